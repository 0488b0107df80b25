<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

/**
 * The moment from which on a process that was sent SIGSTOP does nothing any more.
 */
final class Standstill
{
    /** For so long it may go on, in ns, on a machine with much to do. */
    private const PATIENCE = 10_000_000_000;

    /** Returns when the kernel has stopped all threads of the process, or it is gone. */
    public static function await(int $pid): void
    {
        $end = hrtime(true) + self::PATIENCE;
        while (self::runs($pid)) {
            if (hrtime(true) > $end) {
                throw new \LogicException("Process $pid does not stop");
            }
            usleep(100);
        }
    }

    /** Whether the process has a flock(2) lock, as during a change of a Table. */
    public static function isWithin(int $pid): bool
    {
        return preg_match("/^\d+: FLOCK +ADVISORY +WRITE $pid /m", (string) file_get_contents('/proc/locks')) === 1;
    }

    private static function runs(int $pid): bool
    {
        foreach (glob("/proc/$pid/task/*/stat") ?: [] as $file) {
            // The name before the state may have any character in it.
            $state = substr((string) strrchr((string) @file_get_contents($file), ')'), 2, 1);
            if ($state !== '' && !str_contains('TtZX', $state)) {
                return true;
            }
        }

        return false;
    }
}
