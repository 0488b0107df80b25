<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Illuminate\Cache\DatabaseLock;

final class LaravelTableHandle extends PolledHandle
{
    /** @param int $seconds its TTL */
    public function __construct(private readonly DatabaseLock $lock, private readonly int $seconds, bool $autoRelease)
    {
        parent::__construct($autoRelease);
    }

    protected function take(): bool
    {
        return (bool) $this->lock->acquire();
    }

    /** MySQL says of a row that stays as it is, in the same second, that none was found. */
    protected function renew(int $end): bool
    {
        return (bool) $this->lock->refresh($this->seconds)
            || ($this->lock->isOwnedByCurrentProcess() && hrtime(true) < $end);
    }

    protected function giveBack(): void
    {
        $this->lock->release();
    }

    /** Laravel counts from the second that has begun. */
    protected function lifetime(): int
    {
        return (int) (($this->seconds - fmod(microtime(true), 1.0)) * 1e9);
    }
}
