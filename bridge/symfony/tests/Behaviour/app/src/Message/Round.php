<?php

declare(strict_types=1);

namespace App\Message;

use Latch\Symfony\Messenger\Lock;

/**
 * Is sent by the scheduler.
 */
#[Lock('round')]
final class Round extends Task
{
}
