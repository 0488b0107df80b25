<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Key;
use Latch\Symfony\Messenger\AfterAll;
use Latch\Symfony\Messenger\Bounded;
use Latch\Symfony\Messenger\Chain;
use Latch\Symfony\Messenger\Debounce;
use Latch\Symfony\Messenger\Event\LockLostEvent;
use Latch\Symfony\Messenger\Event\LockRefusedEvent;
use Latch\Symfony\Messenger\Event\MessageRequeuedEvent;
use Latch\Symfony\Messenger\Event\RuleEvent;
use Latch\Symfony\Messenger\Exception\LockLostException;
use Latch\Symfony\Messenger\Exception\RequeueException;
use Latch\Symfony\Messenger\HandOver;
use Latch\Symfony\Messenger\Limit;
use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\Once;
use Latch\Symfony\Messenger\Ordered;
use Latch\Symfony\Messenger\Rule;
use Latch\Symfony\Messenger\SkippedStamp;
use Latch\Symfony\Messenger\Throttle;
use Latch\Symfony\Tests\Message\Locked;
use Latch\Symfony\Tests\Message\Outer;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Message\Single;
use Latch\Symfony\Tests\Message\Versioned;
use Latch\Symfony\Tests\Support\App;
use Latch\Symfony\Tests\Support\AppTestCase;
use Latch\Symfony\Tests\Support\Transaction;
use Latch\Tests\RedisProxy;
use Latch\Tests\RedisServer;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\HandlerFailedException;
use Symfony\Component\Messenger\Stamp\TransportNamesStamp;

/**
 * What depends on time and on a server.
 */
final class RedisTest extends AppTestCase
{
    private static RedisServer $server;

    public static function setUpBeforeClass(): void
    {
        self::$server = new RedisServer();
    }

    protected function setUp(): void
    {
        self::$server->command('FLUSHALL');
    }

    public function testNothingIsCommittedWithoutTheLock(): void
    {
        $app = $this->transactional();
        $app->handler->does[Plain::class] = static function (): void {
            self::$server->command('FLUSHALL');
            usleep(400_000);
        };
        $e = $this->assertThrows(LockLostException::class, fn () => $this->direct($app, new Plain(), new Lock('x', ttl: 0.3)));

        self::assertSame('x', $e->resource);
        self::assertSame(['rollback'], $app->get(Transaction::class)->log);
    }

    public function testALossIsTold(): void
    {
        $app = $this->redis();
        $events = [];
        $app->dispatcher()->addListener(LockLostEvent::class, static function (LockLostEvent $event) use (&$events): void {
            $events[] = $event;
        });
        $app->handler->does[Plain::class] = static function (): void {
            self::$server->command('FLUSHALL');
            usleep(400_000);
        };
        $this->assertThrows(LockLostException::class, fn () => $this->direct($app, new Plain(), new Lock('plain-{id}', ttl: 0.3)));

        self::assertCount(1, $events);
        self::assertSame('plain-x', $events[0]->resource);
        self::assertSame(['message' => Plain::class, 'rule' => 'Lock', 'key' => 'plain-{id}'], $events[0]->labels());
    }

    public function testALockIsGivenBackWithoutAwaitingTheAnswer(): void
    {
        $app = $this->redis();
        for ($known = 0; $known < 2; ++$known) {
            $this->direct($app, new Plain(), new Lock('x'));
        }
        self::$server->command('CONFIG', 'RESETSTAT');
        $this->direct($app, new Plain(), new Lock('x'));

        $this->awaitFree('x');
        // By its digest, and what goes behind it then.
        self::assertSame([2, 1], [self::$server->count('evalsha'), self::$server->count('eval')]);
    }

    public function testALockIsFreeThoughTheServerHasForgottenTheScript(): void
    {
        $app = $this->redis();
        for ($known = 0; $known < 2; ++$known) {
            $this->direct($app, new Plain(), new Lock('x'));
        }
        $app->handler->does[Plain::class] = static fn () => self::$server->command('SCRIPT', 'FLUSH');
        $this->direct($app, new Plain(), new Lock('x'));

        $this->awaitFree('x');
    }

    /** As behind a firewall that forgets connections: the next thing that is sent finds that out. */
    public function testALockThatWasHeldForLongIsFreeThoughItsConnectionHasDied(): void
    {
        $proxy = new RedisProxy(self::$server);
        $app = $this->redis(['stores' => ['default' => $proxy->dsn()]]);
        $this->direct($app, new Plain(), new Lock('x'));
        $app->handler->does[Plain::class] = static function () use ($proxy): void {
            usleep(1_100_000);
            $proxy->set('lose');
        };
        $this->direct($app, new Plain(), new Lock('x'));

        $this->awaitFree('x');
        self::assertSame('pass', $proxy->mode());
    }

    #[TestWith([0])]
    #[TestWith([1_100_000])]
    public function testALockThatCannotBeGivenBackIsToldAndFailsNoMessage(int $microseconds): void
    {
        $app = $this->redis();
        $app->handler->does[Plain::class] = static function () use ($microseconds): void {
            usleep($microseconds);
            self::$server->stop();
        };
        try {
            $this->direct($app, new Plain(), new Lock('x'));
        } finally {
            self::$server->start();
        }

        self::assertStringContainsString('A rule of a message cannot be ended', implode("\n", $app->log()->lines));
    }

    private function awaitFree(string $resource): void
    {
        for ($tries = 0; $tries < 100 && !self::$server->lacks($resource); ++$tries) {
            usleep(10_000);
        }
        self::assertTrue(self::$server->lacks($resource));
    }

    /**
     * @param \Closure(App): mixed $hinder what keeps the message from being handled
     */
    #[DataProvider('rulesOfStamps')]
    public function testARuleOfAStampIsKnownBehindTheTransport(Rule $rule, \Closure $hinder, string $key = 'job-{id}'): void
    {
        $app = $this->redis();
        if ($rule instanceof HandOver) {
            $app->locks()->createLockFromKey($rule->key, 30.0, false)->acquire();
        }
        $app->bus()->dispatch(new Plain(7), [$rule]);
        $hinder($app);
        $app->clock->sleep(60);

        self::assertSame(
            array_fill(0, 2, ['message' => Plain::class, 'rule' => (new \ReflectionClass($rule))->getShortName(), 'key' => $key]),
            $this->labelsOfWork($app, 'a'),
        );
    }

    /**
     * @return iterable<string, array{0: Rule, 1: \Closure(App): mixed, 2?: string}>
     */
    public static function rulesOfStamps(): iterable
    {
        $takeAway = static function (App $app, string $resource): void {
            self::$server->command('FLUSHALL');
            $app->locks()->createLock($resource, 30.0, false)->acquire();
        };
        yield 'Once' => [new Once('job-{id}'), static fn (App $app) => $takeAway($app, 'once.job-7')];
        yield 'HandOver' => [new HandOver(new Key('report')), static fn (App $app) => $takeAway($app, 'report'), ''];
        yield 'Debounce' => [new Debounce('job-{id}', 30.0), static fn () => null];
        yield 'Ordered' => [
            new Ordered('job-{id}'),
            static fn (App $app) => $app->locks()->createLock('ordered.job-7', 30.0, false)->acquire(),
        ];
    }

    public function testTheLockOfAChainIsKnownBehindItsFirstStep(): void
    {
        $app = $this->redis();
        $second = new Envelope(new Plain(8), [new TransportNamesStamp(['b'])]);
        $app->bus()->dispatch(new Plain(7), [new Once('job-{id}', 'chain'), new Chain($second)]);
        $app->work('a');
        self::$server->command('FLUSHALL');
        $app->locks()->createLock('once.job-7', 30.0, false)->acquire();

        self::assertSame(
            array_fill(0, 2, ['message' => Plain::class, 'rule' => 'Once', 'key' => 'job-{id}']),
            $this->labelsOfWork($app, 'b'),
        );
    }

    /**
     * @return list<array<string, string>> of the refusal and the requeue
     */
    private function labelsOfWork(App $app, string $transport): array
    {
        $labels = [];
        foreach ([LockRefusedEvent::class, MessageRequeuedEvent::class] as $event) {
            $app->dispatcher()->addListener($event, static function (RuleEvent $event) use (&$labels): void {
                $labels[] = $event->labels();
            });
        }
        $app->work($transport);

        return $labels;
    }

    public function testNothingIsCommittedWithoutThePermit(): void
    {
        $app = $this->transactional();
        $app->handler->does[Plain::class] = static function (): void {
            self::$server->command('FLUSHALL');
            usleep(1_500_000);
        };
        $this->assertThrows(LockLostException::class, fn () => $this->direct($app, new Plain(), new Limit(1, 'x', ttl: 1.0)));

        self::assertSame(['rollback'], $app->get(Transaction::class)->log);
    }

    public function testALostLockOfAnOuterMessageStopsTheInnerOne(): void
    {
        $app = $this->redis();
        $app->handler->does[Plain::class] = static function () use ($app): void {
            self::$server->command('FLUSHALL');
            usleep(400_000);
            $app->bus()->dispatch(new Outer(1));
        };
        $e = $this->assertThrows(HandlerFailedException::class, fn () => $this->direct($app, new Plain(), new Lock('x', ttl: 0.3)));

        self::assertInstanceOf(LockLostException::class, array_values($e->getWrappedExceptions())[0]);
        self::assertSame(['Plain x'], $app->handler->handled);
    }

    public function testTheLockOfAChainIsKeptForTheQueueAndForTheTimeBeforeARetry(): void
    {
        $app = $this->redis();
        $app->handler->does[Single::class] = static fn () => throw new \DomainException('no');
        $app->bus()->dispatch(new Plain(1), [new Once('k', 'chain', queueTtl: 100.0), new Chain(new Single(2), new Plain(3))]);
        $app->work('a', 1);
        $queued = self::$server->command('PTTL', 'once.k');
        $app->work('a', 1);

        self::assertEqualsWithDelta(100_000, $queued, 900);
        // Symfony's delay of 1 s has a jitter of a tenth.
        self::assertEqualsWithDelta(101_000, self::$server->command('PTTL', 'once.k'), 900);
    }

    /** It is acquired again before the message is handled. */
    public function testALockThatEndedWhileItsPartsWereHandledDoesNotHinderTheLastStep(): void
    {
        $app = $this->redis();
        $app->bus()->dispatch(new Plain(), [new Once('k'), new AfterAll([new Single(1)])]);
        self::$server->command('DEL', 'once.k');
        $free = null;
        $app->handler->does[Plain::class] = static function () use ($app, &$free): void {
            $free = $app->isFree('once.k');
        };
        $app->workAll('a');

        self::assertSame(['Single 1', 'Plain x'], $app->handler->handled);
        self::assertSame([false, true], [$free, $app->isFree('once.k')]);
    }

    /** The end of an inner writer makes a reader of the outer message, but not of a lock that was lost. */
    public function testALockThatWasLostInAnInnerMessageIsLostForTheOuterOne(): void
    {
        $app = $this->redis();
        $app->handler->does[Outer::class] = static function (): void {
            self::$server->command('FLUSHALL');
            usleep(400_000);
        };
        $app->handler->does[Plain::class] = function () use ($app): void {
            $this->assertThrows(LockLostException::class, static fn () => $app->bus()->dispatch(new Outer(1)));
        };

        $this->assertThrows(
            LockLostException::class,
            fn () => $this->direct($app, new Plain(), new Lock('item-1', ttl: 0.3, read: true)),
        );
    }

    /** A handler may take longer than the lease of its place. */
    public function testALastStepIsNotHandledByTwoWorkersAtATime(): void
    {
        [$app, $other] = [$this->redis(['messenger' => ['ttl' => 0.3]]), $this->redis(['messenger' => ['ttl' => 0.3]])];
        $app->bus()->dispatch(new Plain(), [new AfterAll([new Single(1)])]);
        $app->work('a', 1);
        $last = $app->transport('a')->getSent()[1];
        $app->handler->does[Plain::class] = static function () use ($other, $last): void {
            usleep(500_000);
            $other->transport('a')->send($last);
            $other->work('a');
        };
        $app->work('a');
        self::assertSame(['Single 1', 'Plain x'], $app->handler->handled);
        self::assertSame([[], ['again Plain x 0']], [$other->handler->handled, $other->events]);
        $other->workAll('a');

        self::assertSame([[], 0], [$other->handler->handled, $other->waiting('a')]);
    }

    public function testALockLastsAsLongAsItsHandler(): void
    {
        $app = $this->redis();
        $free = null;
        $app->handler->does[Plain::class] = static function () use ($app, &$free): void {
            usleep(1_600_000);
            $free = $app->isFree('x');
        };
        $this->direct($app, new Plain(), new Lock('x', ttl: 1.0));

        self::assertFalse($free);
    }

    public function testALockIsNotRenewedForEver(): void
    {
        $app = $this->redis();
        $app->handler->does[Plain::class] = static fn () => usleep(900_000);

        $this->assertThrows(LockLostException::class, fn () => $this->direct($app, new Plain(), new Lock('x', ttl: 0.2, maxHold: 0.3)));
    }

    /** Nobody renews locks of client objects: they have more time, and inner messages renew those of outer ones. */
    public function testLocksOfAClientObjectHaveTime(): void
    {
        $app = $this->redis(['stores' => ['default' => 'app.redis']], static function (ContainerBuilder $container): void {
            $container->register('app.redis', \Redis::class)->addMethodCall('connect', ['127.0.0.1', self::$server->port]);
        });
        $left = [];
        $ttl = static function () use (&$left): void {
            $left[] = self::$server->command('PTTL', 'x');
        };
        $app->handler->does[Plain::class] = static function () use ($app, $ttl): void {
            $ttl();
            usleep(300_000);
            $app->bus()->dispatch(new Locked(1));
            $ttl();
        };
        $this->direct($app, new Plain(), new Lock('x', ttl: 0.2));

        self::assertGreaterThan(1000, $left[0]);
        self::assertGreaterThan(1800, $left[1]);
        self::assertSame(-2, self::$server->command('PTTL', 'x'));
    }

    public function testAKeyHasTheTimeOfTheQueueAndThenThatOfALivingWorker(): void
    {
        $app = $this->redis(['messenger' => ['ttl' => 5]]);
        $left = fn (): int => (int) round(self::$server->command('PTTL', 'once.job-1') / 1000);
        $app->bus()->dispatch(new Single(1));
        self::assertEqualsWithDelta(3600, $left(), 20);
        $handling = null;
        $app->handler->does[Single::class] = static function () use ($left, &$handling): void {
            $handling = $left();
            throw new \DomainException('no');
        };
        $app->work('a', 1);
        self::assertLessThanOrEqual(5, $handling);
        self::assertEqualsWithDelta(3601, $left(), 20);
        $app->workAll();

        self::assertSame(['again Single 1 1', 'again Single 1 2', 'failed Single 1'], $app->events);
        self::assertSame(-2, self::$server->command('PTTL', 'once.job-1'));
    }

    public function testOneWhoseTimeInTheQueueIsOverTakesItsKeyAgain(): void
    {
        $app = $this->redis();
        $app->bus()->dispatch(new Single(1));
        self::$server->command('FLUSHALL');
        $ignored = null;
        $app->handler->does[Single::class] = static function () use ($app, &$ignored): void {
            $ignored = $app->bus()->dispatch(new Single(1))->last(SkippedStamp::class) !== null;
        };
        $app->work();

        self::assertTrue($ignored);
        self::assertSame(['handled Single 1'], $app->events);
        self::assertTrue($app->isFree('once.job-1'));
    }

    public function testAllRulesTravel(): void
    {
        $app = $this->redis();
        $app->bus()->dispatch(new Plain(1), [
            new Lock('x'), new Limit(1, 'x'), new Throttle(100, 1.0, 'x'), new Bounded(1, 'x', 'skip'), new Debounce('x', 0.1),
        ]);
        $second = $app->bus()->dispatch(new Plain(2), [new Bounded(1, 'x', 'skip')]);
        $app->bus()->dispatch(new Versioned(2));
        self::assertNotNull($second->last(SkippedStamp::class));
        usleep(150_000);
        $app->workAll();
        self::assertNull($app->bus()->dispatch(new Plain(3), [new Bounded(1, 'x', 'skip')])->last(SkippedStamp::class));

        self::assertEqualsCanonicalizing(['Plain 1', 'Versioned 2'], $app->handler->handled);
    }

    public function testALockThatAnotherHoldsIsAConflictAndNotAnError(): void
    {
        $app = $this->redis();
        $lock = $app->locks()->createLock('x', 10);
        $lock->acquire();
        $e = $this->assertThrows(RequeueException::class, fn () => $this->direct($app, new Plain(), new Lock('x')));

        self::assertNull($e->getPrevious());
    }

    /**
     * @param array<string, mixed> $latch
     */
    private function redis(array $latch = [], ?\Closure $services = null): App
    {
        $latch += ['stores' => ['default' => self::$server->dsn()]];

        return $this->app([Single::class => 'a', Versioned::class => 'a', Plain::class => 'a'], $latch, services: $services);
    }

    private function transactional(): App
    {
        return $this->app([], ['stores' => ['default' => self::$server->dsn()]], [Transaction::class], static function (ContainerBuilder $container): void {
            $container->register(Transaction::class, Transaction::class)->setPublic(true);
        });
    }
}
