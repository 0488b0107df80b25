<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use Latch\Laravel\Tests\Support\Process;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * A release wakes the first waiter, whatever has become of the others.
 */
final class HandOverTest extends LaravelTestCase
{
    #[DataProvider('drivers')]
    public function testAWaiterHasTheLockAsSoonAsItIsReleased(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $waiter] = [$application->start(), $application->start()];

        self::assertLessThan(self::QUICK, self::handOver($holder, $waiter, self::lockName(), 'release'));
    }

    #[DataProvider('drivers')]
    public function testAForcedReleaseWakesTheWaiter(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $waiter] = [$application->start(), $application->start()];

        self::assertLessThan(self::QUICK, self::handOver($holder, $waiter, self::lockName(), 'forceRelease'));
    }

    #[DataProvider('drivers')]
    public function testWaitersHaveTheLockInTheOrderInWhichTheyCame(Driver $driver): void
    {
        $application = new Application($driver);
        $holder = $application->start();
        $name = self::lockName();
        $holder->take($name, 30);
        $waiters = self::queue($application, $name, 5);
        $holder->call($name, 'release');
        $ends = array_map(static fn (Process $waiter): int => $waiter->finish()->result, $waiters);
        asort($ends);

        self::assertSame([0, 1, 2, 3, 4], array_keys($ends));
    }

    #[DataProvider('drivers')]
    public function testAKilledWaiterIsInNobodysWay(Driver $driver): void
    {
        $application = new Application($driver);
        $holder = $application->start();
        $name = self::lockName();
        $holder->take($name, 30);
        $waiters = self::queue($application, $name, 4);
        $waiters[0]->stop();
        $waiters[2]->stop();
        unset($waiters[0], $waiters[2]);
        $holder->beginCall($name, 'release');
        $released = $holder->finish();

        [$first, $second] = [$waiters[1]->finish(), $waiters[3]->finish()];
        self::assertLessThan($second->endedNs, $first->endedNs);
        self::assertLessThan(self::SOON, ($first->endedNs - $released->begunNs) / 1e9);
    }

    #[DataProvider('drivers')]
    public function testTheLockOfAKilledHolderIsFreeWhenItExpires(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $waiter] = [$application->start(), $application->start()];
        $name = self::lockName();
        $waiter->lock($name, 30);
        $begun = microtime(true);
        $holder->take($name, 2);
        $taken = microtime(true);
        $waiter->beginCall($name, 'block', 10);
        $waiter->awaitQueued();
        $holder->stop();
        self::assertTrue($waiter->finish()->result);

        // Seconds of a clock, of which the first has begun already.
        self::assertGreaterThan(1.0, microtime(true) - $begun);
        self::assertLessThan(2 + self::SOON, microtime(true) - $taken);
    }

    #[DataProvider('drivers')]
    public function testTheWaiterFindsTheLockFreeThatAProcessWithoutLatchReleases(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $waiter] = [$application->startStock(), $application->start()];
        $name = self::lockName();
        $waiter->lock($name, 30);
        $seconds = [];
        for ($i = 0; $i < 5; $i++) {
            $holder->take($name, 30);
            $waiter->beginCall($name, 'block', 10);
            $waiter->awaitQueued();
            $holder->beginCall($name, 'release');
            $released = $holder->finish();
            $seconds[] = ($waiter->finish()->endedNs - $released->endedNs) / 1e9;
            $waiter->call($name, 'release');
        }

        // It asks at most 110 ms after the last time.
        self::assertLessThan(0.11 + self::QUICK, min($seconds), json_encode($seconds));
    }

    #[DataProvider('drivers')]
    public function testAProcessWithoutLatchWaitsForOneWithIt(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $waiter] = [$application->start(), $application->startStock()];
        $name = self::lockName();
        $waiter->lock($name, 30);
        $holder->take($name, 30);
        $waiter->beginCall($name, 'block', 10);
        usleep(300_000); // its first attempts
        $holder->beginCall($name, 'release');
        $released = $holder->finish();
        $got = $waiter->finish();

        self::assertTrue($got->result);
        self::assertGreaterThan($released->begunNs, $got->endedNs);
        self::assertFalse($holder->call($name, 'get'));
    }

    /** As a job does whose lock was taken by the process that dispatched it. */
    #[DataProvider('drivers')]
    public function testAWaiterFindsTheLockFreeThatAnotherProcessReleases(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $other, $waiter] = [$application->start(), $application->start(), $application->start()];
        $name = self::lockName();
        $holder->take($name, 30, 'handed over');
        $waiter->lock($name, 30);
        $waiter->beginCall($name, 'block', 10);
        $waiter->awaitQueued();
        $other->begin('return Cache::restoreLock($arguments[0], "handed over")->release();', $name);
        $released = $other->finish();
        $got = $waiter->finish();

        self::assertTrue($released->result);
        self::assertTrue($got->result);
        self::assertLessThan(self::SOON, ($got->endedNs - $released->begunNs) / 1e9);
    }

    /**
     * @return list<Process> of which each came after the one before
     */
    private static function queue(Application $application, string $name, int $count): array
    {
        $waiters = [];
        for ($i = 0; $i < $count; $i++) {
            $waiter = $application->start();
            $waiter->lock($name, 30);
            $waiter->begin('$locks[$arguments[0]]->block(20, fn () => usleep(20000)); return hrtime(true);', $name);
            $waiter->awaitQueued();
            $waiters[] = $waiter;
        }

        return $waiters;
    }
}
