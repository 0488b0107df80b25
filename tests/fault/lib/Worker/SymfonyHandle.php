<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Lock;

final class SymfonyHandle implements Handle
{
    /** Symfony's store in Redis cuts the server's time to milliseconds. */
    private const ROUNDING = 0.001;

    private bool $doubtful = false;

    /**
     * @param (\Closure(): ?int)|null $fencingToken where the store has some
     * @param float                   $rounding     so much before their TTL its locks may end; in s
     * @param float|null              $shift        a lock ends with a whole second of a clock that is so much ahead, in
     *                                              s, before its TTL, which is whole seconds; null: it does not
     * @param bool                    $autoRelease  whether its end releases a lock that does not do so by itself
     */
    public function __construct(
        private readonly Lock $lock,
        private readonly Waiting $waiting,
        private readonly ?\Closure $fencingToken = null,
        private readonly float $rounding = self::ROUNDING,
        private readonly ?float $shift = null,
        private readonly bool $autoRelease = false,
    ) {
    }

    public function __destruct()
    {
        if ($this->autoRelease) {
            $this->release();
        }
    }

    public function acquire(bool $exclusive, ?float $wait): bool
    {
        $granted = $exclusive ? $this->lock->acquire($wait === null) : $this->lock->acquireRead($wait === null);
        // An attempt that fails counts the time to live anew all the same, and gives up a lock by flock(2).
        $this->doubtful = !$granted;

        return $granted;
    }

    public function waiting(): Waiting
    {
        return $this->waiting;
    }

    public function isCertain(): bool
    {
        $left = $this->lock->getRemainingLifetime();
        if ($left !== null && $this->shift !== null) {
            $left -= fmod(microtime(true) + $left + $this->shift, 1.0);
        }

        return !$this->doubtful && !$this->lock->isExpired() && ($left === null || $left > $this->rounding);
    }

    public function refresh(): bool
    {
        try {
            // Counted from before it is sent, also when that fails.
            $this->doubtful = true;
            $this->lock->refresh();
            $this->doubtful = false;

            return true;
        } catch (LockConflictedException) {
            return false;
        }
    }

    public function release(): void
    {
        $this->lock->release();
    }

    public function fencingToken(): ?int
    {
        return $this->fencingToken === null ? null : ($this->fencingToken)();
    }
}
