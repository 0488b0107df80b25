<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * A release wakes the first waiter.
 */
final class HandOverTest extends LaravelTestCase
{
    /** Laravel's own waiters take 100 ms and more, as they poll every 250. */
    private const QUICK = 0.03;

    #[DataProvider('drivers')]
    public function testAWaiterHasTheLockAsSoonAsItIsReleased(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $waiter] = [$application->start(), $application->start()];
        $name = self::lockName();
        $waiter->lock($name, 30);
        $seconds = [];
        for ($i = 0; $i < 7; $i++) {
            $holder->take($name, 30);
            $waiter->beginCall($name, 'block', 10);
            $waiter->awaitQueued();
            $holder->beginCall($name, 'release');
            $released = $holder->finish();
            $got = $waiter->finish();
            self::assertTrue($released->result);
            self::assertTrue($got->result);
            $seconds[] = ($got->endedNs - $released->begunNs) / 1e9;
            $waiter->call($name, 'release');
        }

        self::assertLessThan(self::QUICK, self::median($seconds), json_encode($seconds));
    }
}
