<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

/**
 * Laravel's, whose locks have a queue.
 */
final class DatabaseStore extends \Illuminate\Cache\DatabaseStore
{
    use HasQueuedLocks;

    private const LOCKS = [\Illuminate\Cache\DatabaseLock::class => DatabaseLock::class];
}
