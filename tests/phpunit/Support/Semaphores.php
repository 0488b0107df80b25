<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

/**
 * The System V semaphores of this machine, as the system itself lists them.
 */
final class Semaphores
{
    /** The key that Symfony makes of a resource. */
    public static function key(string $resource, string $digest = 'xxh128'): int
    {
        $key = unpack('i', hash($digest, $resource, true));

        return \is_array($key) ? $key[1] : throw new \LogicException("no $digest");
    }

    /** Whether there is a set with that key. */
    public static function exists(int $key): bool
    {
        return preg_match("/^ *$key /m", (string) file_get_contents('/proc/sysvipc/sem')) === 1;
    }

    /** Waits until the process sleeps in semop(), or in a slice of a wait. */
    public static function untilQueued(int $pid): void
    {
        Wait::until(
            static fn (): bool => str_contains((string) file_get_contents("/proc/$pid/wchan"), 'semtimedop'),
            "process $pid waits for a semaphore",
        );
    }
}
