<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Store\InMemoryStore;
use Latch\Store\StoreFactory;
use Latch\Symfony\Messenger\EventListener\SweepListener;
use Latch\Symfony\Messenger\Flow\Watchlist;
use Latch\Symfony\Messenger\Guard\Guard;
use Latch\Symfony\Messenger\Guard\Sweeper;
use Latch\Symfony\Tests\Support\Log;
use Latch\SyncFactory;
use PHPUnit\Framework\TestCase;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;
use Symfony\Component\Messenger\MessageBus;
use Symfony\Component\Messenger\Worker;

/**
 * What idle workers look after.
 */
final class WatchlistTest extends TestCase
{
    private SyncFactory $factory;

    private Watchlist $list;

    protected function setUp(): void
    {
        $this->factory = new SyncFactory(new InMemoryStore());
        $this->list = new Watchlist(fn () => $this->factory);
    }

    public function testEachIsLookedAtOnceUntilItDoesNotWait(): void
    {
        self::assertSame([], $this->looked());
        foreach (['x', 'y', 'x', 'z', 'x', 'z'] as $key) {
            $this->list->add('kind', ['key' => $key]);
        }
        for ($i = 0; $i < 3; $i++) {
            self::assertEqualsCanonicalizing(['x', 'y', 'z'], $this->looked());
        }
        $this->looked(static fn (string $key): bool => $key !== 'y');
        self::assertEqualsCanonicalizing(['x', 'z'], $this->looked());
        $this->looked(static fn (): bool => false);
        self::assertSame([], $this->looked());
        $this->list->add('kind', ['key' => 'y']);

        self::assertSame(['y'], $this->looked());
    }

    public function testOneThatBeginsToWaitWhileItIsLookedAtStays(): void
    {
        $this->list->add('kind', ['key' => 'x']);
        $this->list->add('kind', ['key' => 'y']);
        $looks = 0;
        $this->looked(function (string $key) use (&$looks): bool {
            if ($key === 'x' && ++$looks === 1) {
                $this->list->add('kind', ['key' => 'x']);

                return false;
            }

            return true;
        });

        self::assertSame(2, $looks);
        self::assertEqualsCanonicalizing(['x', 'y'], $this->looked());
    }

    public function testAProcessThatDiesHasLostNothing(): void
    {
        foreach (['x', 'y', 'z'] as $key) {
            $this->list->add('kind', ['key' => $key]);
        }
        $dead = $this->factory->createSequence('latch-sweep', lease: 0.2);
        self::assertNotNull($dead->abandon(0.0));
        self::assertSame([], $this->looked(), 'It may be alive.');
        usleep(250_000);

        self::assertEqualsCanonicalizing(['x', 'y', 'z'], $this->looked());
        self::assertEqualsCanonicalizing(['x', 'y', 'z'], $this->looked());
    }

    public function testALongListIsLookedAtInParts(): void
    {
        $this->list = new Watchlist(fn () => $this->factory, 0.0);
        foreach (['x', 'y', 'z'] as $key) {
            $this->list->add('kind', ['key' => $key]);
        }
        for ($round = 0; $round < 3; $round++) {
            $looked = [];
            // One of the four is the end of the list.
            for ($i = 0; $i < 4; $i++) {
                $part = $this->looked();
                self::assertLessThanOrEqual(1, \count($part));
                array_push($looked, ...$part);
            }
            self::assertEqualsCanonicalizing(['x', 'y', 'z'], array_unique($looked));
        }
    }

    public function testProcessesLookOnceInTheInterval(): void
    {
        $this->list->add('kind', ['key' => 'x']);
        self::assertSame(['x'], $this->looked());
        self::assertSame([], $this->looked(interval: 0.2));
        usleep(250_000);

        self::assertSame(['x'], $this->looked(interval: 0.2));
    }

    public function testAGuardThatFailsIsAskedAgain(): void
    {
        $guard = new class () extends Guard {
            public int $looks = 0;

            public function rules(): array
            {
                return [];
            }

            public function lookAfter(array $what): ?float
            {
                return ++$this->looks === 1 ? throw new \RuntimeException('The transport is away.') : null;
            }
        };
        $log = new Log();
        $sweeper = new Sweeper($this->list, ['mine' => $guard], $log);
        $this->list->add('mine', ['key' => 'x']);
        $this->list->add('of a newer release', ['key' => 'y']);

        self::assertSame([10.0, 10.0], $sweeper->sweep(0.0));
        self::assertSame(['error: What waits in the store cannot be looked after, and is again in 10 s: The transport is away.'], $log->lines);
        self::assertSame([10.0], $sweeper->sweep(0.0));
        self::assertSame(3, $guard->looks);
    }

    public function testAnIdleWorkerLooksAtOnceAndAsOftenAsThatAsksFor(): void
    {
        $guard = new class () extends Guard {
            public int $looks = 0;

            public function rules(): array
            {
                return [];
            }

            public function lookAfter(array $what): float
            {
                $this->looks++;

                return 0.2;
            }
        };
        $this->list->add('mine', []);
        $listener = new SweepListener(new Sweeper($this->list, ['mine' => $guard]));
        $worker = new Worker([], new MessageBus(), new EventDispatcher());
        $listener->onRunning(new WorkerRunningEvent($worker, false));
        self::assertSame(0, $guard->looks, 'It is busy.');
        $listener->onRunning(new WorkerRunningEvent($worker, true));
        $listener->onRunning(new WorkerRunningEvent($worker, true));
        self::assertSame(1, $guard->looks);
        usleep(250_000);
        $listener->onRunning(new WorkerRunningEvent($worker, true));

        self::assertSame(2, $guard->looks);
    }

    public function testAStoreThatIsAwayIsAskedLaterAndOneWithoutSequencesNever(): void
    {
        $worker = new Worker([], new MessageBus(), new EventDispatcher());
        $asked = 0;
        foreach (['redis://127.0.0.1:1?timeout=0.1' => 1, 'null' => 0] as $dsn => $lines) {
            $log = new Log();
            $list = new Watchlist(static function () use ($dsn, &$asked): SyncFactory {
                $asked++;

                return new SyncFactory(StoreFactory::createStore($dsn));
            });
            $listener = new SweepListener(new Sweeper($list, []), $log);
            $listener->onRunning(new WorkerRunningEvent($worker, true));
            $listener->onRunning(new WorkerRunningEvent($worker, true));
            self::assertCount($lines, $log->lines);
        }

        self::assertSame(2, $asked);
    }

    /**
     * @param (\Closure(string): bool)|null $waits
     *
     * @return list<string> keys
     */
    private function looked(?\Closure $waits = null, float $interval = 0.0): array
    {
        $looked = [];
        $this->list->sweep($interval, static function (string $kind, array $what) use ($waits, &$looked): bool {
            $looked[] = $what['key'];

            return $waits === null || $waits($what['key']);
        });

        return $looked;
    }
}
