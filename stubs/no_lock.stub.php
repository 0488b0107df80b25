<?php

/** @generate-class-entries */

namespace Latch;

/**
 * A lock that locks nothing, for code that requires a lock object where no lock is needed.
 *
 * @strict-properties
 */
final class NoLock implements SharedLockInterface
{
    public function acquireRead(bool $blocking = false): bool {}

    public function acquire(bool $blocking = false): bool {}

    public function refresh(?float $ttl = null): void {}

    public function isAcquired(): bool {}

    public function release(): void {}

    public function isExpired(): bool {}

    public function getRemainingLifetime(): ?float {}
}
