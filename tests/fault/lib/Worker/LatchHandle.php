<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Exception\LockConflictedException;
use Latch\Lock;

final class LatchHandle implements KeptHandle
{
    private bool $held = false;
    private bool $doubtful = false;

    /** @param bool $atomic whether a change of the mode that fails changes nothing */
    public function __construct(private readonly Lock $lock, private readonly bool $atomic)
    {
    }

    public function acquire(bool $exclusive, ?float $wait): bool
    {
        $arguments = $wait === 0.0 ? [] : [true, $wait];
        try {
            $granted = $exclusive ? $this->lock->acquire(...$arguments) : $this->lock->acquireRead(...$arguments);
        } catch (LockConflictedException) {
            // A wait without a time-out that would never end throws.
            $granted = false;
        }
        // With flock(2) a writer may have come and gone during a promotion that failed.
        $this->doubtful = !$granted && $this->held && !$this->atomic;
        $this->held = $granted || $this->held;

        return $granted;
    }

    public function waiting(): Waiting
    {
        return Waiting::AsTold;
    }

    public function isCertain(): bool
    {
        return !$this->doubtful && $this->lock->isHeld();
    }

    public function refresh(): bool
    {
        try {
            $this->lock->refresh();

            return true;
        } catch (LockConflictedException) {
            return false;
        }
    }

    public function release(): void
    {
        $this->lock->release();
    }

    public function onLost(\Closure $told): void
    {
        $log = new LossLog();
        $this->lock->setLogger($log);
        $this->lock->onLost(static fn () => $told($log->reason));
    }

    public function sleep(int $time): void
    {
        usleep($time);
    }

    public function fencingToken(): ?int
    {
        return $this->lock->getFencingToken();
    }
}
