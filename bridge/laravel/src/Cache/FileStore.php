<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

/**
 * Laravel's, whose locks have a queue.
 */
final class FileStore extends \Illuminate\Cache\FileStore
{
    use HasQueuedLocks;

    private const LOCKS = [\Illuminate\Cache\FileLock::class => FileLock::class];
}
