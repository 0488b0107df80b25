<?php

declare(strict_types=1);

namespace Latch\Laravel\Lease;

use Illuminate\Contracts\Cache\Lock;

/**
 * For subclasses of Laravel's mutexes, which drop the lock's object at once: it is kept until the mutex is forgotten, so that
 * its lease is renewed.
 *
 * @internal
 */
trait KeepsLocks
{
    /** @var array<string, Lock> by name */
    private array $kept = [];

    private ?float $lease = null;

    public function withLease(float $seconds): static
    {
        $this->lease = $seconds;

        return $this;
    }

    /** Whether it was acquired; null: locks of this store have no leases. */
    private function acquireLeased(string $name, int $seconds): ?bool
    {
        $store = $this->cache->store($this->store)->getStore();
        $lock = $this->lease !== null && $this->shouldUseLocks($store) ? $store->lock($name, $seconds) : null;
        if ($lock === null || !method_exists($lock, 'lease')) {
            return null;
        }
        if (!$lock->lease($this->lease)->get()) {
            return false;
        }
        $this->kept[$name] = $lock;

        return true;
    }

    /** False: this process has not acquired it with a lease. */
    private function releaseKept(string $name): bool
    {
        $lock = $this->kept[$name] ?? null;
        unset($this->kept[$name]);
        $lock?->release();

        return $lock !== null;
    }
}
