<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Flow;

use Latch\Exception\ExceptionInterface as LockException;
use Latch\Lock;
use Latch\Semaphore\Exception\ExceptionInterface as SemaphoreException;
use Latch\Semaphore\Semaphore;
use Latch\Symfony\Messenger\Exception\LockLostException;
use Latch\Symfony\Messenger\Rule;

/**
 * A lock, or permits, that this process holds for a message.
 *
 * @internal
 */
final class Hold
{
    /** Factor of the TTL where nobody renews. */
    private const UNATTENDED = 10;

    /** Number of messages that use it. */
    private int $uses = 0;

    /** Nanoseconds of a monotonic clock. */
    private readonly int $since;

    private function __construct(
        public readonly string $resource,
        public readonly Lock|Semaphore $lock,
        private readonly float $ttl,
        private readonly bool $keptAlive,
        private bool $read,
        private readonly ?Rule $rule,
    ) {
        $this->since = hrtime(true);
    }

    /**
     * @template L of Lock|Semaphore
     *
     * @param \Closure(float): L $make       of a TTL
     * @param \Closure(L): bool  $acquire
     * @param float|null         $unattended seconds, the TTL where nobody renews
     *
     * @return self|null null: refused
     */
    public static function acquire(
        string $resource,
        float $ttl,
        ?float $maxHold,
        \Closure $make,
        \Closure $acquire,
        bool $read = false,
        ?float $unattended = null,
        ?Rule $rule = null,
    ): ?self {
        $lock = $make($ttl);
        try {
            $lock->keepAlive($maxHold);
            $keptAlive = true;
        } catch (\InvalidArgumentException) {
            $keptAlive = false;
            $ttl = $unattended ?? self::UNATTENDED * $ttl;
            $lock = $make($ttl);
        }

        return $acquire($lock) ? new self($resource, $lock, $ttl, $keptAlive, $read, $rule) : null;
    }

    public function isUsed(): bool
    {
        return $this->uses > 0;
    }

    /**
     * @return float seconds since it was acquired
     */
    public function age(): float
    {
        return (hrtime(true) - $this->since) / 1e9;
    }

    public function isHeld(): bool
    {
        return $this->lock->isHeld();
    }

    /**
     * @throws LockLostException
     */
    public function assertHeld(): void
    {
        if (!$this->lock->isHeld()) {
            throw new LockLostException($this->resource, $this->rule);
        }
    }

    /**
     * Renews what nobody else does.
     *
     * @throws LockLostException
     */
    public function renew(): void
    {
        if (!$this->keptAlive) {
            try {
                $this->lock->refresh($this->ttl);
            } catch (LockException|SemaphoreException) {
                // It may be held still: its time is not over yet.
            }
        }
        $this->assertHeld();
    }

    /**
     * One more message uses it.
     *
     * @param bool                   $read    for reading
     * @param \Closure(Lock): bool $promote acquires for writing what is held for reading
     *
     * @return (\Closure(): void)|null ends this use, and gives the lock back if it was the last one; null: others
     *                                 read, too
     */
    public function use(bool $read, \Closure $promote): ?\Closure
    {
        $lock = $this->lock;
        $promoted = $this->read && !$read && $lock instanceof Lock;
        if ($promoted) {
            if (!$promote($lock)) {
                return null;
            }
            $this->read = false;
        }
        $this->uses++;

        return function () use ($lock, $promoted): void {
            if (--$this->uses === 0) {
                $lock->release();
            } elseif ($promoted) {
                $this->read = true;
                $lock->acquireRead();
            }
        };
    }
}
