<?php

declare(strict_types=1);

namespace App\Message;

use Latch\Symfony\Messenger\Lock;

/**
 * The next one waits for the one before.
 */
#[Lock(wait: true)]
final class OneAtATime extends Task implements Queued
{
}
