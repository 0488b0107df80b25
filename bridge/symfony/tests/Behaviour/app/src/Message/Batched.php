<?php

declare(strict_types=1);

namespace App\Message;

use Latch\Symfony\Messenger\Lock;

/**
 * Is handled together with others.
 */
#[Lock('order_{key}')]
final class Batched extends Message implements Queued
{
}
