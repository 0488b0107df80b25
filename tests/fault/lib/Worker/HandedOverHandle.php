<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

/**
 * A lock that one handle takes; once it is granted it is another one's, and the first is gone. The end of this object
 * releases the lock, whether the heir knows that it holds it or not.
 */
final class HandedOverHandle implements Handle
{
    private bool $isHeirs = false;

    /** @param \Closure(): Handle $inherit makes the heir, when the lock is granted */
    public function __construct(
        private Handle $current,
        private readonly \Closure $inherit,
        private readonly bool $autoRelease,
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
        $granted = $this->current->acquire($exclusive, $wait);
        if ($granted && !$this->isHeirs) {
            $first = $this->current;
            $this->current = ($this->inherit)();
            $this->isHeirs = true;
            unset($first);
            // Until then the lock ends when the first one's account says so, which the heir does not know.
            $granted = $this->current->refresh();
        }

        return $granted;
    }

    public function waiting(): Waiting
    {
        return $this->current->waiting() === Waiting::AsTold ? Waiting::AsToldToTake : $this->current->waiting();
    }

    public function isCertain(): bool
    {
        return $this->current->isCertain();
    }

    public function refresh(): bool
    {
        return $this->current->refresh();
    }

    public function release(): void
    {
        $this->current->release();
    }

    public function fencingToken(): ?int
    {
        return null;
    }
}
