<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

/**
 * Waiting for something to become true, with an end.
 */
final class Wait
{
    /** No test may hang: whatever takes longer than this many seconds is broken. */
    public const LIMIT = 20.0;

    /**
     * @param \Closure(): bool $condition
     */
    public static function until(\Closure $condition, string $what, float $limit = self::LIMIT): void
    {
        $end = hrtime(true) + (int) ($limit * 1e9);
        while (!$condition()) {
            if (hrtime(true) > $end) {
                throw new \RuntimeException("Waited $limit s in vain: $what");
            }
            usleep(500);
        }
    }

    /**
     * Waits until the process sleeps in flock() on the file, as the kernel tells, or in a pause between
     * two tries, which is how Symfony waits for a shared lock.
     */
    public static function untilQueued(int $pid, string $file): void
    {
        $inode = fileinode($file);
        $queued = "/^\\d+: +-> FLOCK .* $pid [0-9a-f]+:[0-9a-f]+:$inode /m";
        self::until(
            static fn (): bool => preg_match($queued, (string) file_get_contents('/proc/locks')) === 1
                || str_contains((string) file_get_contents("/proc/$pid/wchan"), 'nanosleep'),
            "process $pid queues for $file",
        );
    }
}
