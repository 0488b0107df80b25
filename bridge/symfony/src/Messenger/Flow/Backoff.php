<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Flow;

use Latch\Symfony\Messenger\Exception\RequeueException;

/**
 * Delays of messages that were refused their locks: growing, and scattered, so that they do not all come back at once.
 *
 * They are few different numbers, as transports in AMQP make a queue for each.
 *
 * @internal
 */
final class Backoff
{
    private const LADDER = [1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32];

    private const SCATTER = 3;

    /** Milliseconds; above the last one, multiples of it. */
    private const ROUND = [50, 100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000];

    /**
     * @param int $delay    milliseconds
     * @param int $maxDelay milliseconds
     */
    public function __construct(private readonly int $delay, private readonly int $maxDelay)
    {
    }

    /**
     * @return int milliseconds, a little more
     */
    public static function round(float $seconds): int
    {
        $ms = 1000 * $seconds;
        foreach (self::ROUND as $round) {
            if ($ms <= $round) {
                return $round;
            }
        }

        return 5000 * (int) ceil($ms / 5000);
    }

    /**
     * @param int $conflicts before this one
     *
     * @return int milliseconds
     */
    public function delay(RequeueException $conflict, int $conflicts): int
    {
        if ($conflict->getExactDelay() !== null) {
            return $conflict->getExactDelay();
        }
        $step = min(intdiv($conflicts, 2) + random_int(0, self::SCATTER), \count(self::LADDER) - 1);

        return (int) min(self::LADDER[$step] * ($conflict->getBaseDelay() ?? $this->delay), $this->maxDelay);
    }
}
