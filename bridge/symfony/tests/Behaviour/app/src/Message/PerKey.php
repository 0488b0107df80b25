<?php

declare(strict_types=1);

namespace App\Message;

use Latch\Symfony\Messenger\Lock;

/**
 * One at a time of each key.
 */
#[Lock('order_{key}', ttl: 60.0)]
final class PerKey extends Task implements Queued
{
}
