<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Illuminate\Contracts\Cache\LockTimeoutException;
use Latch\Laravel\Companion\Companion;
use Latch\Laravel\Companion\Companions;

/**
 * For subclasses of Laravel's locks: waiters sleep in a queue until the holder's release wakes the first of them.
 *
 * The lock itself is taken, renewed and released by Laravel's own code alone. Two companion locks of Latch stand beside
 * it: "hold" is held by the lock's holder, "queue" by the first waiter, so that the others wait for it. Whatever becomes
 * of companions, Laravel's lock decides; processes without Latch have none.
 *
 * @internal
 */
trait StandsInQueue
{
    use BlocksInTurn;

    private Companion $companion;

    public function withQueue(Companions $companions): static
    {
        $this->companion = $this->companionOf($companions);

        return $this;
    }

    abstract protected function companionOf(Companions $companions): Companion;

    public function acquire()
    {
        $acquired = parent::acquire();
        if ($acquired) {
            $this->companion->tryHold();
        }

        return $acquired;
    }

    public function release()
    {
        try {
            return parent::release();
        } finally {
            $this->companion->letGo();
        }
    }

    public function forceRelease()
    {
        try {
            parent::forceRelease();
        } finally {
            $this->companion->letGo();
        }
    }

    /**
     * @throws LockTimeoutException
     */
    private function wait(float $seconds): void
    {
        $wait = new Wait($seconds);
        $companion = $this->companion;
        $acquired = false;
        try {
            // A hold that is taken has a holder, or is about to have: others were first.
            if ($companion->tryHold() && $acquired = parent::acquire()) {
                return;
            }
            $companion->letGo();
            $companion->enterQueue($wait->rest());
            // Asked once at least, also after a wait behind others that took all the time.
            while (!$acquired = parent::acquire()) {
                if ($wait->isOver()) {
                    throw new LockTimeoutException();
                }
                // Without a hold to wait for, the holder is a process without Latch, or one whose object is gone.
                $companion->holds() ? $wait->pause() : $companion->awaitHold($wait);
            }
            $companion->tryHold();
        } finally {
            $companion->leaveQueue();
            if (!$acquired) {
                $companion->letGo();
            }
        }
    }
}
