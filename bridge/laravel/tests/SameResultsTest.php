<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use Latch\Laravel\Tests\Support\Process;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * What a lock's methods return and throw is the same with the extension and without.
 */
final class SameResultsTest extends LaravelTestCase
{
    /** Each on a lock of its own, whose name is $name. A method that this Laravel does not have throws in both. */
    private const SCENARIOS = [
        'get' => '[Cache::lock($name, 10)->get(), Cache::lock($name, 10)->get(), Cache::lock($name)->acquire()]',
        'the same object again' => '[$lock = Cache::lock($name, 10), $lock->get(), $lock->get(), $lock->release(), $lock->release()]',
        'the same owner again' => '[Cache::lock($name, 10, "me")->get(), Cache::lock($name, 10, "me")->get()]',
        'without an end' => '[Cache::lock($name)->get(), Cache::lock($name)->get(), Cache::lock($name, 5)->get()]',
        'negative seconds' => '[Cache::lock($name, -1)->get(), Cache::lock($name, -1)->get()]',
        'owners' => '[$lock = Cache::lock($name, 10, "me"), $lock->owner(), $lock->isOwnedByCurrentProcess(), $lock->isOwnedBy(null),
            $lock->get(), $lock->isOwnedByCurrentProcess(), $lock->isOwnedBy("me"), $lock->isOwnedBy("you"), $lock->isOwnedBy(null)]',
        'a number as owner' => '[$lock = Cache::lock($name, 10, 42), $lock->get(), $lock->owner(), $lock->isOwnedBy(42),
            $lock->isOwnedBy("42"), $lock->release()]',
        'restored' => '[Cache::lock($name, 10, "me")->get(), Cache::restoreLock($name, "you")->release(),
            Cache::restoreLock($name, "me")->release(), Cache::restoreLock($name, "me")->release(), Cache::lock($name)->get()]',
        'restored, and taken' => '[Cache::restoreLock($name, "me")->get(), Cache::restoreLock($name, "you")->get()]',
        'forced' => '[Cache::lock($name, 10)->get(), Cache::lock($name)->forceRelease(), Cache::lock($name, 10)->get(),
            Cache::lock("$name-2")->forceRelease()]',
        'a callback' => '[Cache::lock($name, 10)->get(fn () => "done"), Cache::lock($name, 10)->get(fn () => Cache::lock($name)->get(fn () => 1)),
            Cache::lock($name, 10)->block(1, fn () => "done"), Cache::lock($name)->get()]',
        'a callback by its name' => '[Cache::lock($name, 10)->get("time") > 0, Cache::lock($name, 10)->block(1, "time") > 0]',
        'an exception of the callback' => 'Cache::lock($name, 10)->get(fn () => throw new DomainException("mine"))',
        'an exception while blocking' => 'Cache::lock($name, 10)->block(1, fn () => throw new DomainException("mine"))',
        'no wait' => '[Cache::lock($name, 10)->block(0), Cache::lock($name, 10)->block(0)]',
        'a time-out' => '[Cache::lock($name, 10)->get(), Cache::lock($name, 10)->block(0.5)]',
        'after the expiry' => '[$lock = Cache::lock($name, 1, "me"), $lock->get(), sleep(2), $lock->isOwnedByCurrentProcess(), $lock->release(),
            $lock->isOwnedByCurrentProcess(), Cache::lock($name, 10, "you")->get(), $lock->release(), Cache::lock($name)->get()]',
        'refreshed' => '[$lock = Cache::lock($name, 10, "me"), $lock->refresh(5), $lock->get(), $lock->refresh(20), Cache::lock($name)->get(),
            Cache::restoreLock($name, "you")->refresh(5)]',
        'refreshed after the expiry' => '[$lock = Cache::lock($name, 1, "me"), $lock->get(), sleep(2), $lock->refresh(5)]',
        'is it locked' => '[$lock = Cache::lock($name, 10), $lock->isLocked(), $lock->get(), Cache::lock($name)->isLocked(), $lock->release(), $lock->isLocked()]',
        'a long name' => '[Cache::lock($long = $name . str_repeat("x", 180), 10)->get(), Cache::lock($long)->get()]',
        'a value of the same name' => '[Cache::put($name, "value", 10), Cache::lock($name, 10)->get(), Cache::get($name), Cache::lock($name)->get()]',
        'the connection' => 'Cache::lock($name)->getConnectionName()',
        'a transaction' => 'DB::transaction(fn () => [Cache::lock($name, 10)->get(fn () => 1), Cache::lock($name, 10, "me")->get()])',
        'sleeping' => '[$lock = Cache::lock($name, 10)->betweenBlockedAttemptsSleepFor(10), $lock->block(1), $lock->release()]',
        'flexible' => '[Cache::flexible($name, [5, 10], fn () => "made"), Cache::flexible($name, [5, 10], fn () => "again")]',
        'without overlapping' => 'Cache::withoutOverlapping($name, fn () => "done")',
        'funnel' => 'Cache::funnel($name)->limit(1)->releaseAfter(10)->then(fn () => Cache::funnel($name)->limit(1)->block(0)->then(
            fn () => "two", fn () => "full"))',
        'unique jobs' => '[$unique = new Illuminate\Bus\UniqueLock(Cache::store()), $job = new UniqueJob($name),
            $unique->acquire($job), $unique->acquire($job), $unique->release($job), $unique->acquire($job)]',
        'overlapping jobs' => '[$seen = new ArrayObject(), $job = new UniqueJob($name),
            $middleware = (new Illuminate\Queue\Middleware\WithoutOverlapping($name))->dontRelease(),
            $middleware->handle($job, function () use ($middleware, $job, $seen) {
                $seen[] = "once";
                $middleware->handle($job, fn () => $seen[] = "twice");
            }), count($seen)]',
        'the scheduler' => '[$mutex = $app->make(Illuminate\Console\Scheduling\CacheEventMutex::class),
            $event = new Illuminate\Console\Scheduling\Event($mutex, $name), $mutex->exists($event), $mutex->create($event),
            $mutex->create($event), $mutex->exists($event), $mutex->forget($event), $mutex->exists($event)]',
        'a rate limiter' => '[RateLimiter::attempt($name, 1, fn () => "once"), RateLimiter::attempt($name, 1, fn () => "twice")]',
    ];

    /** Objects are their classes, without their packages. */
    private const RUN = <<<'PHP'
        [$name, $code] = $arguments;
        class_exists('UniqueJob') || eval('class UniqueJob { public $uniqueFor = 10; public function __construct(public $uniqueId) {} }');
        class_exists('RateLimiter') || class_alias(Illuminate\Support\Facades\RateLimiter::class, 'RateLimiter');
        $result = eval("return $code;");
        foreach (is_array($result) ? $result : [$result] as $value) {
            $values[] = is_object($value) ? preg_replace('/@.*|\$.*/s', '', class_basename($value)) : var_export($value, true);
        }
        return $values;
        PHP;

    #[DataProvider('drivers')]
    public function testResultsAreTheSame(Driver $driver): void
    {
        $application = new Application($driver);
        [$stock, $ours] = [$application->startStock(), $application->start()];
        foreach ([$stock, $ours] as $process) {
            // By chance one of them would remove expired locks of the other.
            $process->php('config(["cache.stores.database.lock_lottery" => [0, 1]]);');
        }
        $stockResults = $ourResults = [];
        foreach (self::SCENARIOS as $scenario => $code) {
            $stock->begin(self::RUN, self::lockName(), $code);
            // SQLite refuses one of two transactions that write at the same time.
            $stockResults[$scenario] = $driver === Driver::Sqlite ? self::outcome($stock) : null;
            $ours->begin(self::RUN, self::lockName(), $code);
            $stockResults[$scenario] ??= self::outcome($stock);
            $ourResults[$scenario] = self::outcome($ours);
            // Laravel 11 has no refresh(); in Redis it is there all the same.
            if ($driver->isRedis() && \is_string($stockResults[$scenario]) && str_ends_with($stockResults[$scenario], '::refresh()')) {
                self::assertIsArray($ourResults[$scenario]);
                unset($stockResults[$scenario], $ourResults[$scenario]);
            }
        }

        self::assertSame($stockResults, $ourResults);
        // That the scenarios are not all errors of the test's.
        self::assertLessThan(\count(self::SCENARIOS) / 2, \count(array_filter($stockResults, is_string(...))), json_encode($stockResults));
    }

    /**
     * @return list<string>|string what it returned, or threw
     */
    private static function outcome(Process $process): array|string
    {
        $answer = $process->outcome();

        $outcome = $answer->error === null ? $answer->result : "$answer->error: $answer->message";

        return str_replace('Latch\Laravel\Cache', 'Illuminate\Cache', $outcome);
    }
}
