<?php

declare(strict_types=1);

namespace Latch\Laravel\Events;

use Illuminate\Contracts\Cache\Lock;

/**
 * What happened to a lock of the cache.
 */
abstract class LockEvent
{
    /**
     * @param string $name as the application has said it, behind the prefix of the cache
     */
    public function __construct(public readonly string $name, public readonly Lock $lock)
    {
    }

    /**
     * Who has the lock at this moment, by a request: that may be another one than at the event.
     *
     * @return array{pid: int|null, host: string|null, script: string|null, since: float|null, remaining: float|null,
     *               fencingToken: int|null, id: string}|null null: nobody, or the driver cannot tell
     */
    public function holder(): ?array
    {
        return method_exists($this->lock, 'holder') ? $this->lock->holder() : null;
    }
}
