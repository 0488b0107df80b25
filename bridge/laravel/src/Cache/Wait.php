<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

/**
 * The time that a waiter has, and the pauses between its attempts.
 *
 * @internal
 */
final class Wait
{
    /** Seconds between two attempts: the first pause, and the longest. */
    private const FIRST_PAUSE = 0.005;
    public const LONGEST_PAUSE = 0.1;

    /** Longer than any process lives, and still a number of nanoseconds. */
    private const LONGEST = 1e9;

    private readonly int $endNs;
    private float $pause = self::FIRST_PAUSE;

    public function __construct(float $seconds)
    {
        $this->endNs = hrtime(true) + (int) (min($seconds, self::LONGEST) * 1e9);
    }

    /** Seconds, >= 0. */
    public function rest(): float
    {
        return max(0, $this->endNs - hrtime(true)) / 1e9;
    }

    public function isOver(): bool
    {
        return $this->rest() <= 0;
    }

    /** Sleeps for longer each time, by chance not as long as other waiters. */
    public function pause(): void
    {
        $this->sleep($this->pause * random_int(90, 110) / 100);
        $this->pause = min(2 * $this->pause, self::LONGEST_PAUSE);
    }

    /** Sleeps for so many seconds, or the rest. A signal ends it. */
    public function sleep(float $seconds): void
    {
        usleep((int) ceil(min($seconds, $this->rest()) * 1e6));
    }
}
