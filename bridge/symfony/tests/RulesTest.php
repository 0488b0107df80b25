<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Exception\InvalidArgumentException as NoSuchThing;
use Latch\Symfony\Messenger\Bounded;
use Latch\Symfony\Messenger\Debounce;
use Latch\Symfony\Messenger\Exception\QueueFullException;
use Latch\Symfony\Messenger\Exception\RequeueException;
use Latch\Symfony\Messenger\IfNewer;
use Latch\Symfony\Messenger\Limit;
use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\Once;
use Latch\Symfony\Messenger\SkippedStamp;
use Latch\Symfony\Messenger\Throttle;
use Latch\Symfony\Tests\Message\Locked;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Message\Versioned;
use Latch\Symfony\Tests\Support\App;
use Latch\Symfony\Tests\Support\AppTestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Event\SendMessageToTransportsEvent;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\HandledStamp;

/**
 * IfNewer, Debounce, Bounded, Limit and Throttle.
 */
final class RulesTest extends AppTestCase
{
    public function testAnOlderVersionIsNotSent(): void
    {
        $app = $this->app([Versioned::class => 'a']);
        $sent = [];
        foreach ([121, 120, 122, 122] as $version) {
            $sent[] = $this->isSent($app, new Versioned($version));
        }

        self::assertSame([true, false, true, false], $sent);
        self::assertSame(
            'Version 120 of "user" is not newer than 122',
            $app->bus()->dispatch(new Versioned(120))->last(SkippedStamp::class)?->reason,
        );
    }

    public function testAnOlderVersionThatIsOvertakenInTheQueueIsNotHandled(): void
    {
        $app = $this->app([Versioned::class => 'a']);
        $app->bus()->dispatch(new Versioned(1));
        $app->bus()->dispatch(new Versioned(2));
        $app->bus()->dispatch(new Versioned(3), [new DelayStamp(5000)]);
        $app->work();
        self::assertSame([], $app->handler->handled);
        self::assertSame(['handled Versioned 1', 'handled Versioned 2'], $app->events);
        $app->workAll();

        self::assertSame(['Versioned 3'], $app->handler->handled);
    }

    public function testARetryIsNotTooOld(): void
    {
        $app = $this->app([Versioned::class => 'a']);
        $tries = 0;
        $app->handler->does[Versioned::class] = static function () use (&$tries): void {
            if (++$tries === 1) {
                throw new \DomainException('no');
            }
        };
        $app->bus()->dispatch(new Versioned(1));
        $app->workAll();

        self::assertSame(['again Versioned 1 1', 'handled Versioned 1'], $app->events);
        self::assertSame(2, $tries);
    }

    /**
     * @return iterable<string, array{mixed, mixed}>
     */
    public static function versions(): iterable
    {
        yield 'beyond floats' => [9007199254740992, 9007199254740993];
        yield 'beyond integers' => ['9999999999999999999', '10000000000000000000'];
        yield 'dates' => [new \DateTimeImmutable('2026-01-01 00:00:00.000001'), new \DateTime('2026-01-01 00:00:00.000002')];
        yield 'dates before 1970' => [new \DateTimeImmutable('1969-12-31 23:59:58.9'), new \DateTimeImmutable('1969-12-31 23:59:59.1')];
        yield 'ULIDs' => ['01ARZ3NDEKTSV4RRFFQ69G5FAV', '01BX5ZZKBKACTAV9WEVGEMMVRZ'];
    }

    #[DataProvider('versions')]
    public function testComparesVersions(mixed $older, mixed $newer): void
    {
        $app = $this->app([Versioned::class => 'a']);
        self::assertTrue($this->isSent($app, new Versioned($newer)));
        self::assertFalse($this->isSent($app, new Versioned($older)));
        self::assertFalse($this->isSent($app, new Versioned($newer)));

        self::assertTrue($this->isSent($app, new Versioned($newer), new IfNewer('user', '{id}', orSame: true)));
    }

    public function testAVersionWhoseDispatchFailedMayComeAgain(): void
    {
        $app = $this->app([Versioned::class => 'a']);
        $refuse = static fn () => throw new \RuntimeException('The transport is away.');
        $app->dispatcher()->addListener(SendMessageToTransportsEvent::class, $refuse);
        $this->assertThrows(\RuntimeException::class, static fn () => $app->bus()->dispatch(new Versioned(7)));
        $app->dispatcher()->removeListener(SendMessageToTransportsEvent::class, $refuse);

        self::assertTrue($this->isSent($app, new Versioned(7)));
    }

    public function testAVersionThatAnotherRuleSkipsMayComeAgain(): void
    {
        $app = $this->app([Versioned::class => 'a', Plain::class => 'a']);
        $app->bus()->dispatch(new Plain(), [new Once('user')]);
        self::assertFalse($this->isSent($app, new Versioned(7), new Once('user')));

        self::assertTrue($this->isSent($app, new Versioned(7)));
    }

    public function testAStampedVersionIsLookedAtWhenItIsHandled(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $app->bus()->dispatch(new Plain(1), [new IfNewer('x', '{id}')]);
        $app->bus()->dispatch(new Plain(2), [new IfNewer('x', '{id}')]);
        $app->work();

        self::assertSame(['Plain 2'], $app->handler->handled);
    }

    public function testAVersionThatIsNoneIsAMistake(): void
    {
        $app = $this->app([Versioned::class => 'a']);
        $e = $this->assertThrows(\LogicException::class, static fn () => $app->bus()->dispatch(new Versioned(null)));

        self::assertStringContainsString('The version "{id}" of ' . Versioned::class . ' is null', $e->getMessage());
    }

    public function testOfABurstTheLastOneIsHandled(): void
    {
        $app = $this->app([Plain::class => 'a']);
        for ($i = 1; $i <= 3; $i++) {
            $envelope = $app->bus()->dispatch(new Plain($i), [new Debounce('x', seconds: 0.2)]);
            self::assertSame(200, $envelope->last(DelayStamp::class)?->getDelay());
        }
        $app->clock->sleep(1);
        $app->work();
        self::assertSame([], $app->handler->handled);
        self::assertContains('again Plain 3 0', $app->events);
        usleep(250_000);
        $app->workAll();

        self::assertSame(['Plain 3'], $app->handler->handled);
        self::assertSame(0, $app->waiting('a'));
    }

    public function testTheLastOneOfABurstIsRetried(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $app->handler->does[Plain::class] = static fn () => throw new \DomainException('no');
        $app->bus()->dispatch(new Plain(), [new Debounce('x', seconds: 0.05)]);
        usleep(60_000);
        $app->clock->sleep(1);
        $app->workAll();
        self::assertSame(['again Plain x 1', 'again Plain x 2', 'failed Plain x'], $app->events);
        $app->handler->does = [];
        $app->workAll('f');

        self::assertSame('handled Plain x', end($app->events));
        self::assertCount(4, $app->handler->handled);
    }

    public function testWithoutATransportEachIsHandledAtOnce(): void
    {
        $app = $this->app([Locked::class => 's']);
        foreach ([Plain::class, Locked::class] as $class) {
            $app->bus()->dispatch(new $class(1), [new Debounce('x', 5.0)]);
            $app->bus()->dispatch(new $class(2), [new Debounce('x', 5.0)]);
        }

        self::assertSame(['Plain 1', 'Plain 2', 'Locked 1', 'Locked 2'], $app->handler->handled);
    }

    public function testABurstThatGoesOnIsNotGivenUp(): void
    {
        $app = $this->app([Plain::class => 'a'], ['messenger' => ['requeue' => ['give_up_after' => 0.1]]]);
        $app->bus()->dispatch(new Plain(), [new Debounce('x', seconds: 0.4)]);
        for ($i = 0; $i < 3; $i++) {
            $app->clock->sleep(60);
            $app->work();
            usleep(150_000);
        }
        $app->workAll();

        self::assertSame('handled Plain x', end($app->events));
    }

    public function testWhatIsTooMuchIsHandledByItsSender(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $rule = new Bounded(2, 'queue');
        $handled = [];
        for ($i = 1; $i <= 3; $i++) {
            $handled[] = $app->bus()->dispatch(new Plain($i), [$rule])->last(HandledStamp::class) !== null;
        }
        self::assertSame([false, false, true], $handled);
        self::assertSame(2, $app->waiting('a'));
        $app->work('a', 1);
        self::assertNull($app->bus()->dispatch(new Plain(4), [$rule])->last(HandledStamp::class));

        self::assertSame(2, $app->waiting('a'));
    }

    public function testWhatIsTooMuchIsSkippedRefusedOrSentElsewhere(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $app->bus()->dispatch(new Plain(1), [new Bounded(1, 'queue')]);
        self::assertFalse($this->isSent($app, new Plain(2), new Bounded(1, 'queue', 'skip')));
        $e = $this->assertThrows(
            QueueFullException::class,
            static fn () => $app->bus()->dispatch(new Plain(3), [new Bounded(1, 'queue', 'fail')]),
        );
        self::assertSame('1 messages of "queue" are on their way already.', $e->getMessage());
        $app->bus()->dispatch(new Plain(4), [new Bounded(1, 'queue', 'transport:b')]);

        self::assertSame([1, 1], [$app->waiting('a'), $app->waiting('b')]);
        self::assertSame([], $app->handler->handled);
    }

    public function testAPlaceInTheQueueLastsThroughRetries(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $app->handler->does[Plain::class] = static fn () => throw new \DomainException('no');
        $rule = new Bounded(1, 'queue', 'skip');
        $app->bus()->dispatch(new Plain(1), [$rule]);
        $app->work();
        self::assertFalse($this->isSent($app, new Plain(2), $rule));
        $app->workAll();

        self::assertSame(1, $app->waiting('f'));
        self::assertTrue($this->isSent($app, new Plain(2), $rule));
    }

    public function testAPlaceIsFreeWhenTheDispatchFails(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $refuse = static fn () => throw new \RuntimeException('The transport is away.');
        $app->dispatcher()->addListener(SendMessageToTransportsEvent::class, $refuse);
        $rule = new Bounded(1, 'queue', 'skip');
        $this->assertThrows(\RuntimeException::class, static fn () => $app->bus()->dispatch(new Plain(), [$rule]));
        $app->dispatcher()->removeListener(SendMessageToTransportsEvent::class, $refuse);

        self::assertTrue($this->isSent($app, new Plain(), $rule));
    }

    public function testSoManyAreHandledAtATime(): void
    {
        $app = $this->app();
        $limit = new Limit(2, 'api');
        $permits = $app->permits()->createSemaphore('api', 2);
        $permits->acquire();
        $free = null;
        $app->handler->does[Plain::class] = static function () use ($app, $limit, &$free): void {
            $free = $app->permits()->createSemaphore('api', 2)->acquire();
            // Within this one, not beside it.
            $app->bus()->dispatch(new Locked(1), [$limit]);
        };
        $app->bus()->dispatch(new Plain(), [$limit]);
        self::assertFalse($free);
        self::assertSame(['Plain x', 'Locked 1'], $app->handler->handled);
        $other = $app->permits()->createSemaphore('api', 2);
        self::assertTrue($other->acquire());

        $e = $this->assertThrows(RequeueException::class, static fn () => $app->bus()->dispatch(new Plain(), [$limit]));
        self::assertSame('api', $e->resource);
    }

    public function testWhatIsBeyondTheLimitComesBack(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $permits = $app->permits()->createSemaphore('api', 1);
        $permits->acquire();
        $app->bus()->dispatch(new Plain(), [new Limit(1, 'api', delay: 100)]);
        $app->work();
        self::assertSame(['again Plain x 0'], $app->events);
        $permits->release();
        $app->workAll();

        self::assertSame(['again Plain x 0', 'handled Plain x'], $app->events);
    }

    public function testSoManyBeginInATime(): void
    {
        $app = $this->app([Plain::class => 'a']);
        for ($i = 1; $i <= 4; $i++) {
            $app->bus()->dispatch(new Plain($i), [new Throttle(2, 600.0, 'mail', burst: 2)]);
        }
        $app->work();

        self::assertSame(['Plain 1', 'Plain 2'], $app->handler->handled);
        $delays = [];
        foreach (\array_slice($app->transport('a')->getSent(), 4) as $envelope) {
            $delays[] = $envelope->last(DelayStamp::class)?->getDelay();
        }
        self::assertSame([300_000, 300_000], $delays);
    }

    public function testWaitsForASlotThatComesSoon(): void
    {
        $app = $this->app();
        $rule = new Throttle(5, 1.0, 'mail', wait: 30.0);
        $before = hrtime(true);
        for ($i = 0; $i < 3; $i++) {
            $app->bus()->dispatch(new Plain($i), [$rule]);
        }

        self::assertGreaterThanOrEqual(390_000_000, hrtime(true) - $before);
        self::assertCount(3, $app->handler->handled);
    }

    public function testALockThatIsRefusedUsesNoSlot(): void
    {
        $app = $this->app([Locked::class => 'a']);
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $app->bus()->dispatch(new Locked(7), [new Throttle(1, 600.0, 'mail')]);
        $app->work();
        $lock->release();
        $app->workAll();

        self::assertSame(['again Locked 7 0', 'handled Locked 7'], $app->events);
    }

    public function testAStoreWithoutSuchThingsStillHasLocks(): void
    {
        $app = $this->app([], ['stores' => ['default' => 'semaphore']]);
        $app->bus()->dispatch(new Locked('sysv-' . getmypid()));
        self::assertCount(1, $app->handler->handled);
        $e = $this->assertThrows(NoSuchThing::class, static fn () => $app->bus()->dispatch(new Versioned(1)));

        self::assertStringContainsString('have them', $e->getMessage());
    }

    /**
     * @return iterable<string, array{\Closure(): object, string}>
     */
    public static function mistakes(): iterable
    {
        yield [static fn () => new Lock(''), '#[Lock]: $key must not be empty.'];
        yield [static fn () => new Lock(ttl: 0.0), '#[Lock]: $ttl must be a finite number above 0, 0 is not.'];
        yield [static fn () => new Lock(wait: -1.0), '#[Lock]: $wait must be a finite number above 0, -1 is not.'];
        yield [static fn () => new Lock(onConflict: 'drop'), '#[Lock]: $onConflict must be one of "requeue", "skip", "fail"; "drop" is not.'];
        yield [static fn () => new Once(until: 'over'), '#[Once]: $until must be one of "done", "received", "attempt", "chain"; "over" is not.'];
        yield [static fn () => new IfNewer('x', ''), '#[IfNewer]: $version must not be empty.'];
        yield [static fn () => new Limit(0), '#[Limit]: $limit must be a finite number above 0, 0 is not.'];
        yield [static fn () => new Throttle(5, 1.0, burst: 6), '#[Throttle]: $burst must be from 1 to the limit of 5, 6 is not.'];
        yield [static fn () => new Debounce('x', 5.0, maxWait: 1.0), '#[Debounce]: $maxWait must be a finite number, and not less than'];
        yield [static fn () => new Bounded(1, onFull: 'transport:'), '#[Bounded]: $onFull must be one of "sync", "skip", "fail", "transport:NAME"'];
    }

    #[DataProvider('mistakes')]
    public function testARuleNamesItsMistake(\Closure $make, string $message): void
    {
        $e = $this->assertThrows(\InvalidArgumentException::class, $make);

        self::assertStringContainsString($message, $e->getMessage());
    }

    private function isSent(App $app, object $message, object ...$stamps): bool
    {
        return $app->bus()->dispatch(Envelope::wrap($message, $stamps))->last(SkippedStamp::class) === null;
    }
}
