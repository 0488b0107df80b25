<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * Leases: a lock lives as long as its holder's process, and some seconds.
 */
final class LeaseTest extends LaravelTestCase
{
    private const COUNT_LOSSES = <<<'PHP'
        $locks['losses'] = 0;
        $app['events']->listen(Latch\Laravel\Events\LockLost::class, function () use ($locks) { $locks['losses']++; });
        PHP;

    #[TestWith([Driver::PhpRedis, 100])]
    #[TestWith([Driver::PhpRedis, 0])]
    #[TestWith([Driver::Predis, 100])]
    public function testTheLockOfAKilledProcessIsFreeAfterTheLease(Driver $driver, int $wanted): void
    {
        $application = new Application($driver, settings: ['leases' => ['job-*' => 1]]);
        [$holder, $waiter] = [$application->start(), $application->start()];
        $holder->take($name = self::lockName(), $wanted);
        $waiter->lock($name, 100);
        $waiter->beginCall($name, 'block', 20);
        $waiter->awaitQueued();
        // It is renewed.
        usleep(1_800_000);
        self::assertTrue($holder->call($name, 'isHeld'));
        $killedNs = hrtime(true);
        $holder->stop();
        $got = $waiter->finish();

        self::assertTrue($got->result, $got->message);
        self::assertGreaterThan($killedNs, $got->endedNs);
        self::assertLessThan(1.1 + self::SOON, ($got->endedNs - $killedNs) / 1e9);
    }

    /** For no longer than what was wanted. */
    public function testRenewalEnds(): void
    {
        $application = new Application(Driver::PhpRedis, settings: ['leases' => ['job-*' => 1]]);
        [$holder, $waiter] = [$application->start(), $application->start()];
        $holder->take($name = self::lockName(), 2);
        $takenNs = hrtime(true);
        $waiter->lock($name, 100);
        $waiter->beginCall($name, 'block', 20);
        $got = $waiter->finish();

        self::assertTrue($got->result, $got->message);
        self::assertGreaterThan(1.7, ($got->endedNs - $takenNs) / 1e9);
        self::assertLessThan(3.1 + self::SOON, ($got->endedNs - $takenNs) / 1e9);
    }

    /** In Redis's own words, beside those of locks without a lease. */
    #[DataProvider('redisDrivers')]
    public function testWhichLocksAreLeased(Driver $driver): void
    {
        $application = new Application($driver, settings: ['leases' => ['*-long' => 50, 'none-*' => 0, '*' => 10]]);
        $process = $application->start();
        $id = bin2hex(random_bytes(6));
        foreach ([
            ["$id-long", 100, 50], [$id, 100, 10], ["$id-short", 5, 5], ["$id-ever", 0, 10], ["none-$id", 100, 100],
            ["laravel_unique_job:$id", 100, 100], ["framework/schedule-$id", 100, 100], ["framework/command-$id", 100, 100],
        ] as [$name, $wanted, $expected]) {
            $process->take($name, $wanted);
            self::assertEqualsWithDelta($expected, $process->call($name, 'remaining'), 3, $name);
            self::assertTrue($process->call($name, 'refresh', 60));
            self::assertEqualsWithDelta($wanted === $expected ? 60 : $expected, $process->call($name, 'remaining'), 3, $name);
            self::assertTrue($process->call($name, 'release'), $name);
        }
    }

    /** From then on, by the application's word. */
    public function testARefreshedLockIsRenewedForLonger(): void
    {
        $application = new Application(Driver::PhpRedis, settings: ['leases' => ['job-*' => 1]]);
        [$holder, $other] = [$application->start(), $application->start()];
        $holder->take($name = self::lockName(), 2);
        self::assertTrue($holder->call($name, 'refresh', 100));
        usleep(4_500_000);

        self::assertFalse($other->php('return Cache::lock($arguments[0])->get();', $name));
        self::assertLessThan(1.1, $holder->call($name, 'remaining'));
    }

    /** By an object that did not acquire it: as the application has said. */
    public function testAnOwnerThatIsHandedOverHasNoLease(): void
    {
        $application = new Application(Driver::PhpRedis, settings: ['leases' => ['job-*' => 1]]);
        [$first, $second] = [$application->start(), $application->start()];
        $first->take($name = self::lockName(), 100, 'owner');
        $second->php('$locks["restored"] = Cache::restoreLock($arguments[0], "owner");', $name);
        self::assertTrue($second->call('restored', 'refresh', 50));
        $first->stop();
        usleep(1_500_000);

        self::assertTrue($second->call('restored', 'isOwnedByCurrentProcess'));
    }

    /** Of a release of the package that had no leases. */
    public function testACachedConfigurationWithoutTheSettings(): void
    {
        $application = new Application(Driver::PhpRedis, settings: ['enabled' => true]);
        $application->startStock()->php('Artisan::call("config:cache");');
        self::assertSame(['enabled' => true], (require "$application->directory/bootstrap/cache/config.php")['latch']);
        $process = $application->start();
        $process->take($name = self::lockName(), 100);

        self::assertGreaterThan(90, $process->call($name, 'remaining'));
        self::assertFalse($process->php('return $app->bound("Illuminate\Console\Scheduling\EventMutex");'));
    }

    /** A connection that Latch cannot renew on: all of the time. */
    public function testAClientObjectHasNoLeases(): void
    {
        $application = new Application(Driver::PhpRedis, settings: ['leases' => ['job-*' => 1]]);
        $process = $application->start();
        $process->php(<<<'PHP'
            class OtherConnection extends Illuminate\Redis\Connections\PhpRedisConnection {}
            $app['redis']->extend('phpredis', fn () => new class extends Illuminate\Redis\Connectors\PhpRedisConnector {
                public function connect(array $config, array $options) {
                    $client = parent::connect($config, $options)->client();
                    return new OtherConnection($client);
                }
            });
            $app['redis']->purge();
            PHP);
        $process->take($name = self::lockName(), 100);

        self::assertGreaterThan(90, $process->call($name, 'remaining'));
    }

    /** A mutex of the scheduler, by a task that runs while its process is killed. */
    #[TestWith([['schedule_lease' => 1], 1.1])]
    #[TestWith([['schedule_lease' => null, 'leases' => ['*' => 1]], null])]
    public function testTheMutexOfAScheduledTask(array $settings, ?float $seconds): void
    {
        $application = new Application(Driver::PhpRedis, settings: $settings);
        [$holder, $other] = [$application->start(), $application->start()];
        $task = <<<'PHP'
            $schedule = $app->make(Illuminate\Console\Scheduling\Schedule::class);
            $event = $schedule->call(fn () => null)->name($arguments[0])->withoutOverlapping(10);
            $locks['mutex'] = $event->mutex;
            $locks['event'] = $event;
            PHP;
        $name = self::lockName();
        $holder->php($task, $name);
        $other->php($task, $name);
        $create = 'return $locks["mutex"]->create($locks["event"]);';
        self::assertTrue($holder->php($create));
        self::assertTrue($other->php('return $locks["mutex"]->exists($locks["event"]);'));
        usleep(1_800_000);
        self::assertFalse($other->php($create));
        $killedNs = hrtime(true);
        $holder->stop();
        $free = $other->php('for ($i = 0; $i < 200; $i++) { if ($locks["mutex"]->create($locks["event"])) { return hrtime(true); } usleep(10000); }');

        $seconds === null
            ? self::assertNull($free)
            : self::assertLessThan($seconds + self::SOON, ($free - $killedNs) / 1e9);
        self::assertNull($other->php(self::COUNT_LOSSES . '$locks["mutex"]->forget($locks["event"]); usleep(700000);'));
        self::assertSame(0, $other->php('return $locks["losses"];'));
        self::assertTrue($other->php($create));
    }

    /** Whose mutex another process forgets. */
    public function testATaskInTheBackgroundHasNoLease(): void
    {
        $application = new Application(Driver::PhpRedis, settings: ['schedule_lease' => 1]);
        [$holder, $other] = [$application->start(), $application->start()];
        $create = <<<'PHP'
            $schedule = $app->make(Illuminate\Console\Scheduling\Schedule::class);
            $event = $schedule->exec("true $arguments[0]")->withoutOverlapping(10)->runInBackground();
            return [$event->mutex::class, $event->mutex->create($event)];
            PHP;
        $id = bin2hex(random_bytes(6));
        self::assertSame(['Latch\Laravel\Scheduling\EventMutex', true], $holder->php($create, $id));
        $holder->stop();
        usleep(1_500_000);

        self::assertSame(['Latch\Laravel\Scheduling\EventMutex', false], $other->php($create, $id));
    }

    public function testTheMutexOfAnIsolatedCommand(): void
    {
        $application = new Application(Driver::PhpRedis, settings: ['command_lease' => 1]);
        $command = <<<'PHP'
            class Isolated extends Illuminate\Console\Command implements Illuminate\Contracts\Console\Isolatable {
                protected $signature = 'isolated {--sleep=0}';
                public function handle() { touch(base_path('runs')); usleep((int) (1e6 * $this->option('sleep'))); }
            }
            $app->make(Illuminate\Contracts\Console\Kernel::class)->registerCommand(new Isolated());
            PHP;
        [$holder, $other] = [$application->start(), $application->start()];
        $holder->php($command);
        $other->php($command);
        $run = 'return Artisan::call("isolated", ["--isolated" => 42]);';
        // It is forgotten at the end.
        self::assertSame([0, 0], [$holder->php(self::COUNT_LOSSES . $run), $other->php($run)]);
        self::assertSame(0, $holder->php('usleep(700000); return $locks["losses"];'));
        unlink("$application->directory/runs");
        $holder->begin('return Artisan::call("isolated", ["--isolated" => 42, "--sleep" => 30]);');
        while (!file_exists("$application->directory/runs")) {
            usleep(10_000);
            clearstatcache();
        }
        usleep(1_800_000);
        self::assertSame(42, $other->php($run));
        $killedNs = hrtime(true);
        $holder->stop();
        $free = $other->php('for ($i = 0; $i < 500; $i++) { if (Artisan::call("isolated", ["--isolated" => 42]) === 0) { return hrtime(true); } usleep(10000); }');

        self::assertNotNull($free);
        self::assertLessThan(1.1 + self::SOON, ($free - $killedNs) / 1e9);
    }

    /** Of a job that does not overlap, in Laravel's own middleware. */
    public function testTheMiddlewareOfAJob(): void
    {
        $application = new Application(Driver::PhpRedis, settings: ['leases' => ['laravel-queue-overlap:*' => 1]]);
        $job = <<<'PHP'
            class Job { public function release() { $GLOBALS['released'] = true; } }
            $locks['run'] = fn (int $microseconds, $name) => (new Illuminate\Queue\Middleware\WithoutOverlapping($name))
                ->handle(new Job(), function () use ($microseconds) { touch(base_path('runs')); usleep($microseconds); });
            PHP;
        [$holder, $other] = [$application->start(), $application->start()];
        $holder->php($job);
        $other->php($job);
        $name = self::lockName();
        $holder->begin('$locks["run"](30000000, $arguments[0]);', $name);
        while (!file_exists("$application->directory/runs")) {
            usleep(10_000);
            clearstatcache();
        }
        usleep(1_800_000);
        $try = 'unset($GLOBALS["released"]); $locks["run"](0, $arguments[0]); return !isset($GLOBALS["released"]);';
        self::assertFalse($other->php($try, $name));
        $killedNs = hrtime(true);
        $holder->stop();
        $free = $other->php("for (\$i = 0; \$i < 500; \$i++) { if ((function () use (\$locks, \$arguments) { $try })()) { return hrtime(true); } usleep(10000); }", $name);

        self::assertNotNull($free);
        self::assertLessThan(1.1 + self::SOON, ($free - $killedNs) / 1e9);
    }
}
