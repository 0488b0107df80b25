<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * What block() does for its caller.
 */
final class WaitTest extends LaravelTestCase
{
    private const TIMEOUT = 'Illuminate\Contracts\Cache\LockTimeoutException';

    /** Laravel's own gives up an interval of 250 ms too early. */
    #[DataProvider('drivers')]
    public function testAWaitTakesAllOfItsTimeAndNoMore(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $waiter] = [$application->start(), $application->start()];
        $name = self::lockName();
        $holder->take($name, 30);
        $waiter->lock($name, 30);
        foreach ([1, 0.3, 0] as $seconds) {
            $waiter->beginCall($name, 'block', $seconds);
            $answer = $waiter->outcome();
            self::assertSame(self::TIMEOUT, $answer->error);
            self::assertGreaterThanOrEqual($seconds, $answer->seconds());
            self::assertLessThan($seconds + self::SOON, $answer->seconds());
        }
        // It has left nothing behind that another one would wait for.
        $holder->call($name, 'release');
        $waiter->beginCall($name, 'block', 5);
        self::assertLessThan(self::SOON, $waiter->finish()->seconds());
    }

    /** Behind a waiter that is stopped, so that nobody asks for the lock. */
    #[DataProvider('queuedDrivers')]
    public function testAtTheEndOfItsTimeAWaiterAsksForTheLock(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $stopped, $waiter] = [$application->start(), $application->start(), $application->start()];
        $name = self::lockName();
        $holder->take($name, 30);
        foreach ([$stopped, $waiter] as $process) {
            $process->lock($name, 30);
            $process->beginCall($name, 'block', 1);
            $process->awaitQueued();
            usleep(50_000); // It sleeps then, and has not locked the file of the lock.
            $stopped->freeze();
        }
        $holder->call($name, 'release');
        $answer = $waiter->finish();
        self::assertGreaterThan(0.99, $answer->seconds());
        self::assertLessThan(1.0 + self::SOON, $answer->seconds());

        $stopped->thaw();
        self::assertSame(self::TIMEOUT, $stopped->outcome()->error);
    }

    #[DataProvider('drivers')]
    public function testACallbackIsCalledWithTheLockWhichIsReleasedThen(Driver $driver): void
    {
        $process = (new Application($driver))->start();
        $answer = $process->php(<<<'PHP'
            $isFree = fn () => Cache::lock($arguments[0], 30, 'other')->get(fn () => 'free');
            $in = Cache::lock($arguments[0], 30)->block(5, $isFree);
            $behind = $isFree();
            try {
                Cache::lock($arguments[0], 30)->block(5, fn () => throw new DomainException());
            } catch (DomainException) {
                return [$in, $behind, $isFree()];
            }
            PHP, self::lockName());

        self::assertSame([false, 'free', 'free'], $answer);
    }

    #[DataProvider('drivers')]
    public function testTwoLocksInOneProcessExcludeEachOther(Driver $driver): void
    {
        $process = (new Application($driver))->start();
        $process->begin(<<<'PHP'
            $locks['first'] = Cache::lock($arguments[0], 30);
            $locks['first']->get();
            Cache::lock($arguments[0], 30)->block(0.5);
            PHP, self::lockName());
        $answer = $process->outcome();

        self::assertSame(self::TIMEOUT, $answer->error, $answer->message);
        self::assertGreaterThan(0.49, $answer->seconds());
        self::assertLessThan(0.5 + self::SOON, $answer->seconds());
    }

    #[DataProvider('drivers')]
    public function testASignalsHandlerEndsTheWait(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $first, $second] = [$application->start(), $application->start(), $application->start()];
        $name = self::lockName();
        $holder->take($name, 30);
        // One that asks for the lock, and one that sleeps behind it.
        foreach ([$first, $second] as $waiter) {
            $waiter->lock($name, 30);
            $waiter->begin(<<<'PHP'
                pcntl_signal(SIGALRM, SIG_IGN); // Until it waits for good.
                try {
                    $locks[$arguments[0]]->block(0.1); // Loads the classes: what a handler throws meanwhile gets lost in PHP.
                } catch (Illuminate\Contracts\Cache\LockTimeoutException) {
                }
                pcntl_async_signals(true);
                pcntl_signal(SIGALRM, fn () => throw new Error('alarm')); // An Exception in a query is Laravel's.
                try {
                    $locks[$arguments[0]]->block(20);
                } finally {
                    pcntl_signal(SIGALRM, SIG_IGN);
                }
                PHP, $name);
            $waiter->awaitQueued();
        }
        foreach ([$first, $second] as $waiter) {
            // PHP forgets a signal that comes when a query has just thrown an exception (zend_call_function() does nothing then).
            for ($sent = 0; !$waiter->hasAnswered() && $sent < 10; $sent++) {
                posix_kill($waiter->pid(), \SIGALRM);
                usleep(500000);
            }
            self::assertSame('Error', $waiter->outcome()->error);
        }
        $holder->call($name, 'release');
        self::assertTrue($first->call($name, 'get'));
    }

    /** As Laravel's own: an application's tests wait for nothing. */
    #[TestWith([Driver::File])]
    #[TestWith([Driver::PhpRedis])]
    #[TestWith([Driver::Predis])]
    public function testFakedTimeIsNotWaitedFor(Driver $driver): void
    {
        $process = (new Application($driver))->start();
        $process->take($name = self::lockName(), 100);
        $process->begin(<<<'PHP'
            Illuminate\Support\Sleep::fake(syncWithCarbon: true);
            $slept = 0;
            Illuminate\Support\Sleep::whenFakingSleep(function ($duration) use (&$slept) { $slept += $duration->totalMilliseconds; });
            try {
                Cache::lock($arguments[0], 100)->block(10);
            } catch (Illuminate\Contracts\Cache\LockTimeoutException) {
                return $slept;
            }
            PHP, $name);
        $answer = $process->finish();

        self::assertEquals(9750, $answer->result);
        self::assertLessThan(2.0, $answer->seconds());
    }

    /** Each look at the clock shows some seconds more. */
    #[TestWith([Driver::File])]
    #[TestWith([Driver::PhpRedis])]
    public function testATimeThatATestMovesIsFollowed(Driver $driver): void
    {
        $process = (new Application($driver))->start();
        $process->take($name = self::lockName(), 1000);
        $process->begin(<<<'PHP'
            $begin = now();
            Illuminate\Support\Carbon::setTestNow(fn () => $begin = $begin->addSeconds(3));
            Cache::lock($arguments[0], 100)->block(20);
            PHP, $name);
        $answer = $process->outcome();

        self::assertSame(self::TIMEOUT, $answer->error);
        self::assertLessThan(5.0, $answer->seconds());
    }

    /** Also where it cannot sleep in a queue. */
    #[TestWith(['/dev/null/none'])]
    #[TestWith([''])]
    public function testAWaiterAsksSomeTimesASecond(string $queuePath): void
    {
        $application = new Application(Driver::Sqlite, $queuePath === '' ? [] : ['LATCH_QUEUE_PATH' => $queuePath]);
        [$holder, $waiter] = [$application->startStock(), $application->start()];
        $holder->take($name = self::lockName(), 30);
        $requests = $waiter->php(<<<'PHP'
            $requests = 0;
            DB::listen(function ($query) use (&$requests) { $requests += (int) str_starts_with($query->sql, 'update'); });
            try {
                Cache::lock($arguments[0], 30)->block(2);
            } catch (Illuminate\Contracts\Cache\LockTimeoutException) {
                return $requests;
            }
            PHP, $name);

        self::assertGreaterThan(10, $requests);
        self::assertLessThan(30, $requests);
    }

    /** One that has timed out, and has its lock object still: it waited for a process without Latch, so that it had the hold. */
    public function testATimedOutWaiterIsInNobodysWay(): void
    {
        $application = new Application(Driver::Memcached);
        [$stock, $holder, $waiter] = [$application->startStock(), $application->start(), $application->start()];
        $idle = $application->start();
        $name = self::lockName();
        $stock->take($name, 30);
        $idle->lock($name, 30);
        $idle->beginCall($name, 'block', 0.5);
        self::assertSame(self::TIMEOUT, $idle->outcome()->error);
        $stock->call($name, 'release');

        self::assertLessThan(self::QUICK, self::handOver($holder, $waiter, $name, 'release'));
    }
}
