<?php

declare(strict_types=1);

namespace App\Scheduler;

use Symfony\Component\Scheduler\Trigger\TriggerInterface;

/**
 * Ten times a second.
 */
final class EveryTick implements TriggerInterface
{
    public function __toString(): string
    {
        return 'every tick';
    }

    public function getNextRunDate(\DateTimeImmutable $run): \DateTimeImmutable
    {
        return $run->modify('+100 milliseconds');
    }
}
