<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * Moments of CLOCK_MONOTONIC, as hrtime(true) tells them.
 */
final class Clock
{
    /**
     * Who sleeps is woken late, by some tens of microseconds, and by a processor that has to wake first. So
     * the clock is watched for the rest, by who sleeps until so much before.
     */
    private const WATCHED_NS = 200_000;

    public static function sleepUntil(int $moment): void
    {
        usleep(self::sleepBefore($moment));
        self::watchUntil($moment);
    }

    /** For how many microseconds one can sleep before that moment. */
    public static function sleepBefore(int $moment): int
    {
        return max(0, intdiv($moment - self::WATCHED_NS - hrtime(true), 1_000));
    }

    public static function watchUntil(int $moment): void
    {
        while (hrtime(true) < $moment) {
        }
    }
}
