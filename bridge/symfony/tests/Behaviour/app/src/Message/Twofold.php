<?php

declare(strict_types=1);

namespace App\Message;

use Latch\Symfony\Messenger\Lock;

/**
 * Has two handlers under one lock.
 */
#[Lock('order_{key}')]
final class Twofold extends Task implements Queued
{
}
