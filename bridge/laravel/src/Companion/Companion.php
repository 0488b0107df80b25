<?php

declare(strict_types=1);

namespace Latch\Laravel\Companion;

use Latch\Exception\ExceptionInterface as LockException;
use Latch\Laravel\Cache\Wait;
use Latch\Lock;

/**
 * The companion locks of one of Laravel's lock objects. Their errors are reported to the place, and never thrown: without them
 * a waiter polls.
 *
 * @internal
 */
final class Companion
{
    private ?Lock $hold = null;
    private ?Lock $queue = null;
    private bool $isBroken = false;

    /**
     * @param PeerGaps|null $gaps null: there are no processes without Latch
     */
    public function __construct(
        private readonly Place $place,
        private readonly string $name,
        private readonly ?PeerGaps $gaps,
    ) {
    }

    /** Whether this object has the hold now. */
    public function tryHold(): bool
    {
        if (!$this->isBroken) {
            try {
                return ($this->hold ??= $this->place->hold($this->name))->acquire();
            } catch (LockException $e) {
                $this->fail($e);
            }
        }

        return false;
    }

    public function holds(): bool
    {
        return $this->hold?->isHeld() ?? false;
    }

    /** Sleeps until the hold is let go, for some milliseconds at most: its holder may keep it without the lock. */
    public function awaitHold(Wait $wait): void
    {
        if (!$this->isBroken) {
            try {
                $this->hold ??= $this->place->hold($this->name);
                if ($this->hold->acquire(true, min(Wait::LONGEST_PAUSE, $wait->rest())) && $this->gaps?->isDue($this->name)) {
                    $wait->sleep(PeerGaps::LENGTH);
                }

                return;
            } catch (LockException $e) {
                $this->fail($e);
            }
        }
        $wait->pause();
    }

    public function letGo(): void
    {
        $this->release($this->hold);
        $this->hold = null;
    }

    /**
     * Sleeps until all have gone that came before.
     *
     * @param float $seconds at most
     */
    public function enterQueue(float $seconds): void
    {
        if (!$this->isBroken) {
            try {
                ($this->queue ??= $this->place->queue($this->name))->acquire(true, $seconds);
            } catch (LockException $e) {
                $this->fail($e);
            }
        }
    }

    public function leaveQueue(): void
    {
        $this->release($this->queue);
        $this->queue = null;
    }

    private function release(?Lock $lock): void
    {
        try {
            if ($lock?->isHeld()) {
                $lock->release();
            }
        } catch (LockException $e) {
            $this->fail($e);
        }
    }

    private function fail(LockException $e): void
    {
        $this->isBroken = true;
        $this->place->report($e);
    }
}
