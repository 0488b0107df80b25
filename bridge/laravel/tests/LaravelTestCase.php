<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Driver;
use Latch\Laravel\Tests\Support\Process;
use PHPUnit\Framework\TestCase;

abstract class LaravelTestCase extends TestCase
{
    /** In so many seconds a waiter has the lock that is woken, on an idle machine: see handOver(). */
    protected const QUICK = 0.02;

    /** In so many seconds what happens within one takes place on a busy machine, too. */
    protected const SOON = 5.0;

    /**
     * @return iterable<string, array{Driver}>
     */
    public static function drivers(): iterable
    {
        foreach (Driver::cases() as $driver) {
            yield $driver->value => [$driver];
        }
    }

    /**
     * Those with a queue beside Laravel's own locks.
     *
     * @return iterable<string, array{Driver}>
     */
    public static function queuedDrivers(): iterable
    {
        foreach (self::drivers() as $name => [$driver]) {
            if (!$driver->isRedis()) {
                yield $name => [$driver];
            }
        }
    }

    /**
     * @return iterable<string, array{Driver}>
     */
    public static function redisDrivers(): iterable
    {
        foreach (self::drivers() as $name => [$driver]) {
            if ($driver->isRedis()) {
                yield $name => [$driver];
            }
        }
    }

    /** Of a lock, for this test alone. */
    protected static function lockName(): string
    {
        return 'job-' . bin2hex(random_bytes(6));
    }

    /**
     * @param list<float> $values
     */
    protected static function median(array $values): float
    {
        sort($values);

        return $values[intdiv(\count($values), 2)];
    }

    /**
     * Seconds in which the waiter has the lock after the holder's call, at the best of four: a busy machine delays some of
     * them, and a waiter that polls is never quick here.
     *
     * @param string $method releases the lock
     */
    protected static function handOver(Process $holder, Process $waiter, string $name, string $method): float
    {
        $seconds = [];
        for ($i = 0; $i < 4; $i++) {
            $holder->take($name, 30);
            $waiter->lock($name, 30);
            $waiter->beginCall($name, 'block', 10);
            // Unless it is woken, it asks about 355 ms after its first attempt, or, without the hold, 400 ms.
            usleep(310_000);
            $holder->beginCall($name, $method);
            $released = $holder->finish();
            $got = $waiter->finish();
            self::assertTrue($got->result);
            $seconds[] = ($got->endedNs - $released->begunNs) / 1e9;
            $waiter->call($name, 'release');
        }

        return min($seconds);
    }
}
