<?php

declare(strict_types=1);

namespace Latch\Laravel\Events;

use Illuminate\Contracts\Cache\Lock;

/**
 * block() gave up, as the lock was taken all the time.
 */
final class LockTimedOut extends LockEvent
{
    /**
     * @param float $seconds that it waited
     */
    public function __construct(string $name, Lock $lock, public readonly float $seconds)
    {
        parent::__construct($name, $lock);
    }
}
