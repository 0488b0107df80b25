<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Illuminate\Contracts\Cache\LockTimeoutException;
use Latch\Laravel\Companion\Companion;
use Latch\Laravel\Companion\Companions;
use Latch\Laravel\Events\LockLost;
use Latch\Laravel\Events\LockRefused;
use Latch\Laravel\Events\LockTimedOut;
use Latch\Laravel\Events\LockWaited;

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
    use TellsEvents;

    private Companion $companion;

    /** And has not released it. */
    private bool $hasAcquired = false;

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
            $this->hasAcquired = true;
        } else {
            $this->tell(LockRefused::class);
        }

        return $acquired;
    }

    public function release()
    {
        try {
            $wasOwn = $this->releaseOwn();
        } finally {
            $this->companion->letGo();
        }
        if (!$wasOwn && $this->hasAcquired) {
            $this->tell(LockLost::class, self::LOST);
        }
        $this->hasAcquired = false;

        return $wasOwn;
    }

    public function forceRelease()
    {
        try {
            parent::forceRelease();
        } finally {
            $this->companion->letGo();
        }
        $this->hasAcquired = false;
    }

    /** Whether the lock was this owner's until now. */
    private function releaseOwn(): bool
    {
        return parent::release();
    }

    /**
     * @throws LockTimeoutException
     */
    private function wait(float $seconds): void
    {
        $begunNs = hrtime(true);
        $wait = new Wait($seconds);
        $companion = $this->companion;
        $acquired = false;
        try {
            // A hold that is taken has a holder, or is about to have: others were first.
            if ($companion->tryHold() && $acquired = parent::acquire()) {
                $this->hasAcquired = true;

                return;
            }
            $companion->letGo();
            $companion->enterQueue($wait->rest());
            // Asked once at least, also after a wait behind others that took all the time.
            while (!$acquired = parent::acquire()) {
                if ($wait->isOver()) {
                    $this->tell(LockTimedOut::class, self::secondsSince($begunNs));

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
        $this->hasAcquired = true;
        $this->tell(LockWaited::class, self::secondsSince($begunNs));
    }
}
