<?php

declare(strict_types=1);

namespace Latch\Laravel\Events;

use Illuminate\Contracts\Cache\Lock;

/**
 * The lock was this process's, and is not any more, without a release: with a lease or keepAlive() told as soon as it is
 * known, otherwise at the release.
 */
final class LockLost extends LockEvent
{
    /**
     * @param string $reason a clause
     */
    public function __construct(string $name, Lock $lock, public readonly string $reason)
    {
        parent::__construct($name, $lock);
    }
}
