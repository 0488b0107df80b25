<?php

declare(strict_types=1);

namespace App\Scheduler;

use Symfony\Component\Scheduler\Trigger\TriggerInterface;

/**
 * At each whole fifth of a second.
 */
final class EveryTick implements TriggerInterface
{
    public const MS = 200;

    public function __toString(): string
    {
        return 'every tick';
    }

    public function getNextRunDate(\DateTimeImmutable $run): ?\DateTimeImmutable
    {
        $ms = (intdiv((int) $run->format('Uv'), self::MS) + 1) * self::MS;

        return \DateTimeImmutable::createFromFormat('U.v', \sprintf('%d.%03d', intdiv($ms, 1000), $ms % 1000))
            ?: throw new \LogicException("No time: $ms");
    }
}
