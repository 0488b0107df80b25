<?php

declare(strict_types=1);

namespace Latch\Laravel\Console;

use Carbon\CarbonInterval;
use Illuminate\Console\CacheCommandMutex;
use Latch\Laravel\Lease\KeepsLocks;

/**
 * The mutex of isolated commands with a lease: that of a process that was killed is free after that.
 */
final class CommandMutex extends CacheCommandMutex
{
    use KeepsLocks;

    public function create($command)
    {
        $expiresAt = method_exists($command, 'isolationLockExpiresAt')
            ? $command->isolationLockExpiresAt()
            : CarbonInterval::hour();

        return $this->acquireLeased($this->commandMutexName($command), $this->secondsUntil($expiresAt))
            ?? parent::create($command);
    }

    public function forget($command)
    {
        return $this->releaseKept($this->commandMutexName($command)) ?: parent::forget($command);
    }
}
