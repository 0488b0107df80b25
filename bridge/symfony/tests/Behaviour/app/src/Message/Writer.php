<?php

declare(strict_types=1);

namespace App\Message;

use Latch\Symfony\Messenger\Lock;

/**
 * Alone.
 */
#[Lock('document_{key}')]
final class Writer extends Task implements Queued
{
}
