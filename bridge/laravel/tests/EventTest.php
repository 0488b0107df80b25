<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use Latch\Laravel\Tests\Support\Process;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Events of locks.
 */
final class EventTest extends LaravelTestCase
{
    private const LISTEN = <<<'PHP'
        foreach (['LockWaited', 'LockTimedOut', 'LockRefused', 'LockLost', 'LockTakenAway'] as $event) {
            $app['events']->listen("Latch\\Laravel\\Events\\$event", function ($e) use ($event) {
                $GLOBALS['events'][] = [$event, $e->name, $e->seconds ?? $e->reason ?? null, $e->holder()['pid'] ?? null];
            });
        }
        PHP;

    #[DataProvider('drivers')]
    public function testRefusedTimedOutWaited(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $other] = [$application->start(), $application->start()];
        $other->php(self::LISTEN);
        $holder->take($name = self::lockName(), 100);
        $other->lock($name, 100);

        self::assertFalse($other->call($name, 'get'));
        [[$event, $about, , $pid]] = self::events($other);
        self::assertSame(['LockRefused', $name], [$event, $about]);
        self::assertSame($driver->isRedis() ? $holder->pid() : null, $pid);

        $other->beginCall($name, 'block', 0.3);
        self::assertSame('Illuminate\Contracts\Cache\LockTimeoutException', $other->outcome()->error);
        $events = self::events($other);
        self::assertSame([['LockTimedOut', $name]], array_map(static fn (array $event): array => \array_slice($event, 0, 2), $events));
        self::assertGreaterThan(0.29, $events[0][2]);

        $other->beginCall($name, 'block', 20);
        $other->awaitQueued();
        usleep(200_000);
        $holder->call($name, 'release');
        self::assertTrue($other->finish()->result);
        $events = self::events($other);
        self::assertSame([['LockWaited', $name]], array_map(static fn (array $event): array => \array_slice($event, 0, 2), $events));
        self::assertGreaterThan(0.2, $events[0][2]);

        // Nothing to tell of what is as it should be.
        $other->call($name, 'release');
        self::assertTrue($other->call($name, 'block', 5));
        $other->call($name, 'release');
        self::assertSame([], self::events($other));
    }

    #[DataProvider('drivers')]
    public function testALossIsFoundAtTheRelease(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $other] = [$application->start(), $application->start()];
        $holder->php(self::LISTEN);
        $holder->take($name = self::lockName(), 100);
        $other->php('Cache::lock($arguments[0])->forceRelease();', $name);

        self::assertFalse($holder->call($name, 'release'));
        self::assertFalse($holder->call($name, 'release'));
        self::assertSame([['LockLost', $name, "it was not its owner's any more at the release", null]], self::events($holder));
    }

    #[DataProvider('drivers')]
    public function testWhatTheHolderTakesAwayItselfIsNoLoss(Driver $driver): void
    {
        $holder = (new Application($driver))->start();
        $holder->php(self::LISTEN);
        $holder->take($name = self::lockName(), 100);
        $holder->call($name, 'forceRelease');

        self::assertFalse($holder->call($name, 'release'));
        self::assertSame([], self::events($holder));
    }

    #[DataProvider('redisDrivers')]
    public function testALossIsToldWhileTheLockIsKeptAlive(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $other] = [$application->start(), $application->start()];
        $holder->php(self::LISTEN);
        $holder->lock($name = self::lockName(), 1);
        $holder->php('$locks[$arguments[0]]->keepAlive();', $name);
        self::assertTrue($holder->call($name, 'get'));
        $other->php('Cache::lock($arguments[0])->forceRelease();', $name);
        // Renewed each third of a second.
        $events = $holder->php('for ($i = 0; $i < 500 && !isset($GLOBALS["events"]); $i++) { usleep(10000); } return $GLOBALS["events"];');

        self::assertSame([['LockLost', $name]], array_map(static fn (array $event): array => \array_slice($event, 0, 2), $events));
        self::assertFalse($holder->call($name, 'release'));
        self::assertCount(1, self::events($holder));
    }

    #[DataProvider('drivers')]
    public function testWhatTheOperatorTakesAwayIsTold(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $operator] = [$application->start(), $application->start()];
        $operator->php(self::LISTEN);
        $holder->take($name = self::lockName(), 100);
        $operator->php('Artisan::call("latch:release", ["name" => $arguments[0]]);', $name);

        self::assertSame([['LockTakenAway', $name, null, null]], self::events($operator));
    }

    /** Nobody is asked, and nothing is watched. */
    #[DataProvider('redisDrivers')]
    public function testAQueuedListenerIsToldWhoHeldTheLock(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $other] = [$application->start(), $application->start()];
        $holder->take($name = self::lockName(), 100);
        $text = $other->php(<<<'PHP'
            $app['events']->listen(Latch\Laravel\Events\LockRefused::class, function ($event) use (&$text) { $text = serialize($event); });
            Cache::lock($arguments[0], 30)->get();
            return base64_encode($text);
            PHP, $name);
        $holder->call($name, 'release');

        self::assertSame([$name, $holder->pid()], $other->php(
            '$event = unserialize(base64_decode($arguments[0])); return [$event->name, $event->holder()["pid"]];',
            $text,
        ));
    }

    public function testWithoutListenersThereIsNothing(): void
    {
        $application = new Application(Driver::PhpRedis);
        [$holder, $other] = [$application->start(), $application->start()];
        $other->php(<<<'PHP'
            $app->instance('events', new class($app) extends Illuminate\Events\Dispatcher {
                public function dispatch($event, $payload = [], $halt = false) {
                    $GLOBALS['events'][] = [is_object($event) ? $event::class : $event];
                    return parent::dispatch($event, $payload, $halt);
                }
            });
            PHP);
        $holder->take($name = self::lockName(), 100);
        $other->lock($name, 100);
        self::assertFalse($other->call($name, 'get'));
        $other->beginCall($name, 'block', 0.1);
        self::assertNotNull($other->outcome()->error);

        self::assertSame([], array_filter(self::events($other), static fn (array $event): bool => str_contains($event[0], 'Latch')));
        $other->php('$app["events"]->listen("Latch\\\\Laravel\\\\Events\\\\LockRefused", fn () => null);');
        self::assertFalse($other->call($name, 'get'));
        self::assertContains(['Latch\Laravel\Events\LockRefused'], self::events($other));
    }

    /**
     * Since the last call.
     *
     * @return list<array{string, string, mixed, int|null}> name of the event, of the lock, its figure or reason, the holder's pid
     */
    private static function events(Process $process): array
    {
        return $process->php('$events = $GLOBALS["events"] ?? []; $GLOBALS["events"] = []; return $events;');
    }
}
