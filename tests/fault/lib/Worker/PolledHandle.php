<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

/**
 * A lock as Laravel's are, which can only be tried for, again and again.
 */
abstract class PolledHandle implements Handle
{
    /** Laravel's: 250 ms; sessions have 50. */
    private const POLL_US = 50_000;

    /** Until when it is certain, in ns; 0: it is not. */
    private int $end = 0;

    public function __construct(private readonly bool $autoRelease)
    {
    }

    public function __destruct()
    {
        if ($this->autoRelease && $this->end !== 0) {
            $this->release();
        }
    }

    public function acquire(bool $exclusive, ?float $wait): bool
    {
        if ($this->end !== 0) {
            return $this->refresh(); // Laravel would refuse: the owner has it
        }
        $deadline = $wait === null ? \PHP_INT_MAX : hrtime(true) + (int) ($wait * 1e9);
        while (!$this->count(fn (): bool => $this->take())) {
            if (hrtime(true) >= $deadline) {
                return false;
            }
            usleep(max(0, min(self::POLL_US, intdiv($deadline - hrtime(true), 1000))));
        }

        return true;
    }

    public function waiting(): Waiting
    {
        return Waiting::AsToldToTake;
    }

    public function isCertain(): bool
    {
        return hrtime(true) < $this->end;
    }

    public function refresh(): bool
    {
        $end = $this->end;

        return $this->count(fn (): bool => $this->renew($end));
    }

    public function release(): void
    {
        $this->end = 0;
        $this->giveBack();
    }

    public function fencingToken(): ?int
    {
        return null;
    }

    abstract protected function take(): bool;

    /** @param int $end until when it is certain without that, in ns */
    abstract protected function renew(int $end): bool;

    abstract protected function giveBack(): void;

    /** For how long it is certain from now on, in ns, if it is granted now. */
    abstract protected function lifetime(): int;

    /** @param \Closure(): bool $request that has the lock from then on for the TTL, if it is granted */
    private function count(\Closure $request): bool
    {
        $this->end = 0; // also when it fails
        $end = hrtime(true) + $this->lifetime();
        $granted = $request();
        $this->end = $granted ? $end : 0;

        return $granted;
    }
}
