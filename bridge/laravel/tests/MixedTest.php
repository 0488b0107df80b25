<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use Latch\Laravel\Tests\Support\Process;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * Processes with the extension and without exclude each other.
 */
final class MixedTest extends LaravelTestCase
{
    private const SECONDS = 1.5;

    /** Locks until the time is over; the spans in which the lock was held, in ns. */
    private const CONTEND = <<<'PHP'
        [$name, $seconds, $pauseUs] = $arguments;
        $spans = [];
        $end = microtime(true) + $seconds;
        $lock = Cache::lock($name, 60);
        while (microtime(true) < $end) {
            try {
                $lock->block(10);
            } catch (Illuminate\Contracts\Cache\LockTimeoutException) {
                continue;
            }
            $from = hrtime(true);
            usleep(random_int(0, 2000));
            $spans[] = [$from, hrtime(true)];
            $lock->release();
            usleep(random_int(0, $pauseUs));
        }
        return $spans;
        PHP;

    #[DataProvider('drivers')]
    public function testNoTwoProcessesHaveALockAtATime(Driver $driver): void
    {
        $application = new Application($driver);
        $processes = [$application->start(), $application->start(), $application->startStock(), $application->startStock()];
        $spans = self::contend($processes, self::lockName(), 5000);

        self::assertSame([], self::overlaps(array_merge(...$spans)));
        // Pollers starve beside waiters that are woken, and all the more on a busy machine.
        self::assertGreaterThan(20, \count($spans[0]));
        self::assertGreaterThan(20, \count($spans[1]));
    }

    /** Tells that the check above finds what it looks for. */
    public function testOverlapsAreFound(): void
    {
        self::assertSame([], self::overlaps([[5, 6], [1, 2], [3, 4]]));
        self::assertSame([[[1, 4], [3, 6]]], self::overlaps([[3, 6], [1, 4], [7, 8]]));
    }

    #[DataProvider('drivers')]
    public function testProcessesThatLockAllTheTimeHaveEqualShares(Driver $driver): void
    {
        $application = new Application($driver);
        $processes = [$application->start(), $application->start(), $application->start()];
        $counts = array_map(count(...), self::contend($processes, self::lockName(), 0));

        self::assertGreaterThan(0.5, min($counts) / max($counts), json_encode($counts));
    }

    /**
     * By LATCH_PEERS. Otherwise it gets the lock once or twice in a second, or not at all. In Redis by itself, as the server knows
     * Laravel's script; there it is once in a second at most otherwise.
     */
    #[TestWith([Driver::Memcached, ['LATCH_PEERS' => 'true'], 15])]
    #[TestWith([Driver::PhpRedis, ['LATCH_PEERS' => 'true'], 8])]
    #[TestWith([Driver::Predis, [], 8])]
    public function testAPollerGetsALockThatOthersHoldAllTheTime(Driver $driver, array $env, int $least): void
    {
        $application = new Application($driver, $env);
        $processes = [$application->start(), $application->start(), $application->start()];
        $name = self::lockName();
        $poller = $application->startStock();
        $poller->take("$name-before");
        $poller->call("$name-before", 'release');
        $poller->begin(self::CONTEND, $name, 4.0, 40_000);
        $spans = [...self::contend($processes, $name, 0, 4.0), $poller->finish()->result];

        self::assertGreaterThan($least, \count($spans[3]));
    }

    /**
     * @param list<Process> $processes
     * @param int           $pauseUs   of a process without the lock, at most
     *
     * @return list<list<array{int, int}>>
     */
    private static function contend(array $processes, string $name, int $pauseUs, float $seconds = self::SECONDS): array
    {
        foreach ($processes as $process) {
            $process->begin(self::CONTEND, $name, $seconds, $pauseUs);
        }

        return array_map(static fn (Process $process): array => $process->finish()->result, $processes);
    }

    /**
     * @param list<array{int, int}> $spans
     *
     * @return list<array{array{int, int}, array{int, int}}>
     */
    private static function overlaps(array $spans): array
    {
        sort($spans);
        $overlaps = [];
        foreach (\array_slice($spans, 1) as $i => $span) {
            if ($span[0] < $spans[$i][1]) {
                $overlaps[] = [$spans[$i], $span];
            }
        }

        return $overlaps;
    }
}
