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

    /** Seconds since the store's last answer for which its connection is taken to be alive. */
    private const RECENT = 1.0;

    /** Number of messages that use it. */
    private int $uses = 0;

    /** Nanoseconds of a monotonic clock; of its first use. */
    private int $since = 0;

    private function __construct(
        public readonly string $resource,
        private Lock|Semaphore|null $lock,
        private readonly float $ttl,
        private readonly bool $keptAlive,
        private bool $read,
        private readonly ?Rule $rule,
    ) {
    }

    /**
     * Not acquired yet.
     *
     * @param \Closure(float): (Lock|Semaphore) $make       of a TTL
     * @param float|null                       $unattended seconds, the TTL where nobody renews
     */
    public static function of(
        string $resource,
        float $ttl,
        ?float $maxHold,
        \Closure $make,
        bool $read = false,
        ?float $unattended = null,
        ?Rule $rule = null,
    ): self {
        $lock = $make($ttl);
        try {
            $lock->keepAlive($maxHold);
        } catch (\InvalidArgumentException) {
            $ttl = $unattended ?? self::UNATTENDED * $ttl;

            return new self($resource, $make($ttl), $ttl, false, $read, $rule);
        }

        return new self($resource, $lock, $ttl, true, $read, $rule);
    }

    /**
     * @throws \LogicException when it was given back
     */
    public function lock(): Lock|Semaphore
    {
        return $this->lock ?? throw new \LogicException("\"$this->resource\" was given back.");
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
        return $this->lock !== null && $this->lock->isHeld();
    }

    /**
     * @throws LockLostException
     */
    public function assertHeld(): void
    {
        if (!$this->isHeld()) {
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
                $this->lock()->refresh($this->ttl);
            } catch (LockException|SemaphoreException) {
                // It may be held still: its time is not over yet.
            }
        }
        $this->assertHeld();
    }

    /** It is held for reading, and has to be acquired for writing. */
    public function isToPromote(bool $read): bool
    {
        return $this->read && !$read;
    }

    /**
     * One more message uses it, for reading or not.
     */
    public function use(bool $read): void
    {
        if ($this->uses++ === 0) {
            $this->since = hrtime(true);
        }
        $this->read = $this->read && $read;
    }

    /**
     * Ends the use of one message, and gives the lock back if it was the last one.
     *
     * @param bool $promoted that message had it promoted: the others read
     */
    public function leave(bool $promoted): void
    {
        if (--$this->uses === 0) {
            $this->giveBack();
        } elseif ($promoted && $this->lock instanceof Lock) {
            $this->read = true;
            // One that was lost would be acquired anew, and its loss not be noticed.
            if ($this->lock->isHeld()) {
                $this->lock->acquireRead();
            }
        }
    }

    /**
     * By the destructor, which awaits no answer. But if the connection has been idle for long, it may be dead, and that
     * is seen from an answer alone.
     */
    private function giveBack(): void
    {
        try {
            if (!$this->keptAlive || $this->age() >= self::RECENT || !$this->isHeld()) {
                $this->lock()->release();
            }
        } finally {
            // Here, also after a failure: the destructor would throw wherever else the last reference goes.
            $this->lock = null;
        }
    }
}
