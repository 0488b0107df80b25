<?php

declare(strict_types=1);

namespace Latch\Laravel\Scheduling;

use Illuminate\Console\Scheduling\CacheEventMutex;
use Illuminate\Console\Scheduling\Event;
use Latch\Laravel\Lease\KeepsLocks;

/**
 * The scheduler's withoutOverlapping() with a lease: the mutex of a process that was killed is free after that.
 *
 * Not for tasks in the background: another process forgets their mutex, so that nothing would renew it.
 */
final class EventMutex extends CacheEventMutex
{
    use KeepsLocks;

    public function create(Event $event)
    {
        $acquired = $event->runInBackground ? null : $this->acquireLeased($event->mutexName(), $event->expiresAt * 60);

        return $acquired ?? parent::create($event);
    }

    public function forget(Event $event)
    {
        if (!$this->releaseKept($event->mutexName())) {
            parent::forget($event);
        }
    }
}
