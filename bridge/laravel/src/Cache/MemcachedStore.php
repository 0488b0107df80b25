<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

/**
 * Laravel's, whose locks have a queue.
 */
final class MemcachedStore extends \Illuminate\Cache\MemcachedStore
{
    use HasQueuedLocks;

    private const LOCKS = [\Illuminate\Cache\MemcachedLock::class => MemcachedLock::class];
}
