<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use Latch\Laravel\Tests\Support\Process;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * Shares of processes with the extension and without that contend for one lock; see MixedFleetTest for its exclusion.
 */
final class MixedTest extends LaravelTestCase
{
    private const SECONDS = 1.5;

    /** Locks until that time of the clock; how often it had the lock. */
    private const CONTEND = <<<'PHP'
        [$name, $end, $pauseUs] = $arguments;
        $count = 0;
        $lock = Cache::lock($name, 60);
        while (microtime(true) < $end) {
            try {
                $lock->block(10);
            } catch (Illuminate\Contracts\Cache\LockTimeoutException) {
                continue;
            }
            usleep(random_int(0, 2000));
            $count++;
            $lock->release();
            usleep(random_int(0, $pauseUs));
        }
        return $count;
        PHP;

    #[DataProvider('drivers')]
    public function testProcessesThatLockAllTheTimeHaveEqualShares(Driver $driver): void
    {
        $application = new Application($driver);
        $counts = self::contend([$application->start(), $application->start(), $application->start()], self::SECONDS);

        self::assertGreaterThan(0.2, min($counts) / max($counts), json_encode($counts));
    }

    /**
     * By LATCH_PEERS. Otherwise it gets the lock once or twice in a second, or not at all. In Redis by itself, as the server knows
     * Laravel's script; there it is once in a second at most otherwise.
     *
     * @param array<string, string> $env
     */
    #[TestWith([Driver::Memcached, ['LATCH_PEERS' => 'true'], 15])]
    #[TestWith([Driver::PhpRedis, ['LATCH_PEERS' => 'true'], 5])]
    #[TestWith([Driver::Predis, [], 5])]
    public function testAPollerGetsALockThatOthersHoldAllTheTime(Driver $driver, array $env, int $least): void
    {
        $application = new Application($driver, $env);
        $counts = self::contend(
            [$application->startStock(), $application->start(), $application->start(), $application->start()],
            4.0,
            40_000,
        );

        self::assertGreaterThan($least, $counts[0], json_encode($counts));
    }

    /**
     * @param list<Process> $processes
     * @param int           $pauseUs   of the first one without the lock, at most; the others have none
     *
     * @return list<int> how often each had the lock
     */
    private static function contend(array $processes, float $seconds, int $pauseUs = 0): array
    {
        $name = self::lockName();
        // They have started, and a Redis server knows their scripts.
        foreach ($processes as $process) {
            $process->take($name);
            $process->call($name, 'release');
        }
        $end = microtime(true) + $seconds;
        foreach ($processes as $i => $process) {
            $process->begin(self::CONTEND, $name, $end, $i === 0 ? $pauseUs : 0);
        }

        return array_map(static fn (Process $process): int => $process->finish()->result, $processes);
    }
}
