<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use Latch\Laravel\Tests\Support\Process;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Shares of processes with the extension and without that contend for one lock; see MixedFleetTest for its exclusion.
 */
final class MixedTest extends LaravelTestCase
{
    private const SECONDS = 1.5;

    /** Locks until the time is over; how often it had the lock. */
    private const CONTEND = <<<'PHP'
        [$name, $seconds, $pauseUs] = $arguments;
        $count = 0;
        $end = microtime(true) + $seconds;
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
        $processes = [$application->start(), $application->start(), $application->start()];
        $name = self::lockName();
        foreach ($processes as $process) {
            $process->begin(self::CONTEND, $name, self::SECONDS, 0);
        }
        $counts = array_map(static fn (Process $process): int => $process->finish()->result, $processes);

        self::assertGreaterThan(0.5, min($counts) / max($counts), json_encode($counts));
    }

    /** By LATCH_PEERS. Otherwise it gets the lock once or twice in a second, or not at all. */
    public function testAPollerGetsALockThatOthersHoldAllTheTime(): void
    {
        $application = new Application(Driver::Memcached, ['LATCH_PEERS' => 'true']);
        $processes = [$application->start(), $application->start(), $application->start()];
        $name = self::lockName();
        $poller = $application->startStock();
        $poller->begin(self::CONTEND, $name, 4.0, 40_000);
        foreach ($processes as $process) {
            $process->begin(self::CONTEND, $name, 4.0, 0);
        }

        self::assertGreaterThan(25, $poller->finish()->result);
    }
}
