<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Latch\Laravel\Companion\Companion;
use Latch\Laravel\Companion\Companions;

/**
 * A lock that is an item of a memcached server, with a queue.
 */
final class MemcachedLock extends \Illuminate\Cache\MemcachedLock
{
    use StandsInQueue;

    protected function companionOf(Companions $companions): Companion
    {
        return $companions->local("memcached.$this->name");
    }
}
