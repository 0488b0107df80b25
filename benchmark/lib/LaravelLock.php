<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Illuminate\Cache\Lock;

/**
 * One of LaravelLocks. Nothing releases it but release(): Laravel's have no destructor.
 */
final class LaravelLock
{
    /** block() has no way to wait for ever. */
    private const LONG_S = 3_600;

    public function __construct(private readonly Lock $lock)
    {
    }

    public function acquire(bool $blocking = false): bool
    {
        return $blocking ? $this->lock->block(self::LONG_S) : $this->lock->get();
    }

    public function isAcquired(): bool
    {
        return $this->lock->isOwnedByCurrentProcess();
    }

    public function release(): void
    {
        $this->lock->release();
    }
}
