<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use Latch\Key;
use Latch\Lock;
use Latch\Store\RedisStringStore;
use RuntimeException;

/**
 * What a cache lock costs that nobody else wants: Cache::lock(), get() and release() of Laravel's own store and of the
 * package's, and the same lock by Latch alone where it is in Redis.
 */
final class LaravelCosts
{
    private const BATCH_NS = 10_000_000;
    /** Iterations of which the server's time is taken. */
    private const COUNTED = 3_000;
    private const TTL = 30;
    /** The commands that clients send; all others are those of scripts. Laravel alone sends SET. */
    private const SENT = [
        'laravel' => ['set', 'eval', 'evalsha'],
        'package' => ['eval', 'evalsha'],
        'latch' => ['eval', 'evalsha'],
    ];

    /** @var array<string, Closure(int): array{float, float, float}> by subject */
    private readonly array $subjects;

    /** @param string $dsn of the Redis server that has the locks; '': they are elsewhere */
    public function __construct(string $directory, private readonly string $dsn)
    {
        $subjects = [];
        foreach (Laravel::SUBJECTS as $subject) {
            $subjects[$subject] = self::pairs((new LaravelApplication($directory, $subject))->store, "cost-$subject");
        }
        $this->subjects = $subjects + ($dsn === '' ? [] : ['latch' => self::alone(new RedisStringStore($dsn))]);
    }

    /** @return array<string, mixed> */
    public function measure(int $rounds): array
    {
        $measured = [];
        foreach (Rounds::interleave($this->subjects, $rounds, self::BATCH_NS) as $subject => $batches) {
            $measured['costs_ns'][$subject] = array_column($batches, 0);
            foreach (['user', 'system'] as $i => $mode) {
                $measured['processor_us'][$subject][$mode] = array_sum(array_column($batches, $i + 1)) / $rounds;
            }
        }
        foreach ($this->dsn === '' ? [] : $this->subjects as $subject => $run) {
            $measured['server_us'][$subject] = $this->serverTime($run, self::SENT[$subject]);
        }

        return $measured;
    }

    /** @return Closure(int): array{float, float, float} */
    private static function pairs(object $store, string $name): Closure
    {
        $lock = $store->lock($name, self::TTL);
        $other = $store->lock($name, self::TTL);
        $lock->get() && !$other->get() && $lock->release() && $other->get() && $other->release()
            || throw new RuntimeException($store::class . ' does not lock.');

        return self::timed(static function (int $iterations) use ($store, $name): void {
            for (; $iterations > 0; --$iterations) {
                $lock = $store->lock($name, self::TTL);
                $lock->get();
                $lock->release();
            }
        });
    }

    /** @return Closure(int): array{float, float, float} */
    private static function alone(RedisStringStore $store): Closure
    {
        return self::timed(static function (int $iterations) use ($store): void {
            for (; $iterations > 0; --$iterations) {
                $lock = new Lock(new Key('cost-latch'), $store, self::TTL, false);
                $lock->acquire();
                $lock->releaseIfHeld() || throw new RuntimeException('Latch has not locked.');
            }
        });
    }

    /**
     * @param Closure(int): void $loop
     *
     * @return Closure(int): array{float, float, float} of one iteration: nanoseconds; microseconds of this process in user
     *     mode, and in the system
     */
    private static function timed(Closure $loop): Closure
    {
        return static function (int $iterations) use ($loop): array {
            $before = getrusage();
            $begun = hrtime(true);
            $loop($iterations);
            $elapsed = hrtime(true) - $begun;
            $after = getrusage();
            $spent = static fn (string $mode): float => (($after["ru_$mode.tv_sec"] - $before["ru_$mode.tv_sec"]) * 1e6
                + $after["ru_$mode.tv_usec"] - $before["ru_$mode.tv_usec"]) / $iterations;

            return [$elapsed / $iterations, $spent('utime'), $spent('stime')];
        };
    }

    /**
     * @param Closure(int): mixed $run
     * @param list<string>        $commands that are sent
     *
     * @return float microseconds of the server for an iteration, by its own counters
     */
    private function serverTime(Closure $run, array $commands): float
    {
        $observer = (new RedisAddress($this->dsn))->connect();
        $observer->rawCommand('CONFIG', 'RESETSTAT');
        $run(self::COUNTED);
        $spent = 0;
        foreach ($observer->info('commandstats') as $command => $numbers) {
            if (in_array(substr($command, strlen('cmdstat_')), $commands, true)) {
                sscanf($numbers, 'calls=%d,usec=%d', $calls, $microseconds);
                $spent += $microseconds;
            }
        }

        return $spent / self::COUNTED;
    }
}
