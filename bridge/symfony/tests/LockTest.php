<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Symfony\Messenger\Exception\LockConflictException;
use Latch\Symfony\Messenger\Exception\RequeueException;
use Latch\Symfony\Messenger\LatchStamp;
use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\SkippedStamp;
use Latch\Symfony\Tests\Message\Computing;
use Latch\Symfony\Tests\Message\Failing;
use Latch\Symfony\Tests\Message\Locked;
use Latch\Symfony\Tests\Message\Outer;
use Latch\Symfony\Tests\Message\Patient;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Message\Reader;
use Latch\Symfony\Tests\Message\Skipping;
use Latch\Symfony\Tests\Message\Two;
use Latch\Symfony\Tests\Support\AppTestCase;
use Symfony\Component\Messenger\Exception\HandlerFailedException;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\HandledStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;

final class LockTest extends AppTestCase
{
    public function testIsHeldWhileTheMessageIsHandled(): void
    {
        $app = $this->app();
        $free = null;
        $app->handler->does[Locked::class] = static function () use ($app, &$free): void {
            $free = $app->isFree('item-7');
        };
        $app->bus()->dispatch(new Locked(7));

        self::assertFalse($free);
        self::assertTrue($app->isFree('item-7'));
    }

    public function testEndsWhenTheHandlerThrows(): void
    {
        $app = $this->app();
        $app->handler->does[Locked::class] = static fn () => throw new \DomainException('no');
        $this->assertThrows(HandlerFailedException::class, static fn () => $app->bus()->dispatch(new Locked(7)));

        self::assertTrue($app->isFree('item-7'));
    }

    public function testIsNotTakenWhenTheMessageIsSent(): void
    {
        $app = $this->app([Locked::class => 'a']);
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $app->bus()->dispatch(new Locked(7));

        self::assertSame(1, $app->waiting('a'));
    }

    public function testARefusedMessageComesBackAndCountsNoRetry(): void
    {
        $app = $this->app([Locked::class => 'a']);
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $app->bus()->dispatch(new Locked(7));
        for ($i = 0; $i < 8; $i++) {
            $app->work();
            $app->clock->sleep(60);
        }
        self::assertSame([], $app->handler->handled);
        self::assertSame(array_fill(0, 8, 'again Locked 7 0'), $app->events);

        $lock->release();
        $app->handler->does[Locked::class] = static fn () => throw new \DomainException('no');
        $app->events = [];
        $app->workAll();
        self::assertSame(['again Locked 7 1', 'again Locked 7 2', 'failed Locked 7'], $app->events);
        self::assertSame(1, $app->waiting('f'));
        self::assertTrue($app->isFree('item-7'));
    }

    public function testDelaysGrowUpToALimitAndAreScattered(): void
    {
        $app = $this->app([Locked::class => 'a'], ['messenger' => ['requeue' => ['delay' => 100, 'max_delay' => 900]]]);
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $delays = [];
        for ($message = 0; $message < 20; $message++) {
            $app->bus()->dispatch(new Locked(7));
        }
        for ($round = 0; $round < 10; $round++) {
            $sent = \count($app->transport('a')->getSent());
            $app->work();
            foreach (\array_slice($app->transport('a')->getSent(), $sent) as $envelope) {
                $delays[$round][] = $envelope->last(DelayStamp::class)->getDelay();
            }
            $app->clock->sleep(60);
        }

        self::assertSame([], array_diff($delays[0], [100, 150, 200, 300]));
        self::assertGreaterThan(1, \count(array_unique($delays[0])));
        self::assertSame([], array_diff($delays[9], [400, 600, 800, 900]));
    }

    public function testGivesUpInTime(): void
    {
        $app = $this->app([Locked::class => 'a'], ['messenger' => ['requeue' => ['give_up_after' => 0.1]]]);
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $app->bus()->dispatch(new Locked(7));
        $app->work();
        self::assertSame(['again Locked 7 0'], $app->events);
        usleep(110_000);
        $app->workAll();

        self::assertSame(['again Locked 7 0', 'failed Locked 7'], $app->events);
        self::assertSame(1, $app->waiting('f'));
    }

    public function testOutsideOfAWorkerARefusalIsAnException(): void
    {
        $app = $this->app([Outer::class => 's']);
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();

        $e = $this->assertThrows(RequeueException::class, static fn () => $app->bus()->dispatch(new Locked(7)));
        self::assertSame('item-7', $e->resource);
        self::assertStringContainsString('The lock "item-7" is taken', $e->getMessage());
        $this->assertThrows(RequeueException::class, static fn () => $app->bus()->dispatch(new Outer(7)));
        self::assertSame([], $app->handler->handled);
    }

    public function testARefusedInnerMessageBringsTheOuterOneBack(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $app->handler->does[Plain::class] = static fn () => $app->bus()->dispatch(new Locked(7));
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $app->bus()->dispatch(new Plain());
        $app->work();
        self::assertSame(['again Plain x 0'], $app->events);
        $lock->release();
        $app->workAll();

        self::assertSame(['again Plain x 0', 'handled Plain x'], $app->events);
    }

    public function testSkips(): void
    {
        $app = $this->app();
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $envelope = $app->bus()->dispatch(new Skipping(7));

        self::assertSame('The lock "item-7" is taken', $envelope->last(SkippedStamp::class)?->reason);
        self::assertNull($envelope->last(HandledStamp::class));
    }

    public function testSkipsInAWorker(): void
    {
        $app = $this->app([Skipping::class => 'a']);
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $app->bus()->dispatch(new Skipping(7));
        $app->workAll();

        self::assertSame(['handled Skipping 7'], $app->events);
        self::assertSame([], $app->handler->handled);
    }

    public function testFails(): void
    {
        $app = $this->app([Failing::class => 'a']);
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $app->bus()->dispatch(new Failing(7));
        $app->workAll();

        self::assertSame(['again Failing 7 1', 'again Failing 7 2', 'failed Failing 7'], $app->events);
        self::assertNotInstanceOf(RequeueException::class, $this->assertThrows(
            LockConflictException::class,
            fn () => $this->direct($app, new Failing(7)),
        ));
    }

    public function testWaitsAndIsRefusedThen(): void
    {
        $app = $this->app();
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $before = hrtime(true);
        $this->assertThrows(RequeueException::class, static fn () => $app->bus()->dispatch(new Patient(7)));

        self::assertGreaterThanOrEqual(200_000_000, hrtime(true) - $before);
    }

    public function testTakesAllLocksOrNone(): void
    {
        $app = $this->app();
        $held = null;
        $app->handler->does[Two::class] = static function () use ($app, &$held): void {
            $held = [$app->isFree('a-7'), $app->isFree('b-7')];
        };
        $lock = $app->locks()->createLock('b-7');
        $lock->acquire();
        $this->assertThrows(RequeueException::class, static fn () => $app->bus()->dispatch(new Two(7)));
        self::assertTrue($app->isFree('a-7'));
        $lock->release();
        $app->bus()->dispatch(new Two(7));

        self::assertSame([false, false], $held);
        self::assertTrue($app->isFree('a-7') && $app->isFree('b-7'));
    }

    public function testTakesTheLocksThatTheMessageComputes(): void
    {
        $app = $this->app();
        $held = null;
        $app->handler->does[Computing::class] = static function () use ($app, &$held): void {
            $held = array_map($app->isFree(...), ['own', 'x', 'y', 'shared']);
        };
        $reader = $app->locks()->createLock('shared');
        $reader->acquireRead();
        $app->bus()->dispatch(new Computing(['x', 'y', 'x']));

        self::assertSame([false, false, false, false], $held);
    }

    public function testAStampTakesThePlaceOfTheAttributesAndTravels(): void
    {
        $app = $this->app([Locked::class => 'a']);
        $free = null;
        $app->handler->does[Locked::class] = static function () use ($app, &$free): void {
            $free = [$app->isFree('item-7'), $app->isFree('other-7'), $app->isFree('more')];
        };
        $app->bus()->dispatch(new Locked(7), [new Lock('other-{id}', ttl: 5.0), new Lock('more', wait: 1.0, onConflict: 'skip')]);
        self::assertNull($app->transport('a')->getSent()[0]->last(Lock::class));
        $app->work();

        self::assertSame([true, false, false], $free);
    }

    public function testRulesOfTheConfigurationAreAsGoodAsAttributes(): void
    {
        $app = $this->app([], ['messenger' => ['rules' => [
            Plain::class => ['lock' => ['one-{id}', ['key' => 'two-{id}', 'on_conflict' => 'skip']], 'once' => 'plain'],
            Locked::class => ['lock' => 'configured'],
        ]]]);
        $taken = [];
        $app->handler->does[Plain::class] = static function () use ($app, &$taken): void {
            $taken = array_map($app->isFree(...), ['one-1', 'two-1', 'once.plain']);
        };
        $app->handler->does[Locked::class] = static function () use ($app, &$taken): void {
            $taken = array_map($app->isFree(...), ['item-7', 'configured']);
        };
        $app->bus()->dispatch(new Plain(1));
        self::assertSame([false, false, false], $taken);
        $app->bus()->dispatch(new Locked(7));
        self::assertSame([false, false], $taken);
        $lock = $app->locks()->createLock('two-1');
        $lock->acquire();

        self::assertNotNull($app->bus()->dispatch(new Plain(1))->last(SkippedStamp::class));
    }

    public function testReadersShareAndWritersDoNot(): void
    {
        $app = $this->app();
        $reader = $app->locks()->createLock('item-7');
        $reader->acquireRead();
        $app->bus()->dispatch(new Reader(7));
        self::assertSame(['Reader 7'], $app->handler->handled);
        $this->assertThrows(RequeueException::class, static fn () => $app->bus()->dispatch(new Locked(7)));
    }

    public function testAnInnerMessageUsesTheLockOfTheOuterOne(): void
    {
        $app = $this->app();
        $free = [];
        $app->handler->does[Outer::class] = static function () use ($app, &$free): void {
            $app->bus()->dispatch(new Locked(7));
            $free[] = $app->isFree('item-7');
            $app->bus()->dispatch(new Locked(8));
            $free[] = $app->isFree('item-7');
            $free[] = $app->isFree('item-8');
        };
        $app->bus()->dispatch(new Outer(7));

        self::assertSame(['Outer 7', 'Locked 7', 'Locked 8'], $app->handler->handled);
        self::assertSame([false, false, true], $free);
        self::assertTrue($app->isFree('item-7'));
    }

    public function testAnInnerMessageThatThrowsLeavesTheLockOfTheOuterOne(): void
    {
        $app = $this->app();
        $free = null;
        $app->handler->does[Locked::class] = static fn () => throw new \DomainException('no');
        $app->handler->does[Outer::class] = function () use ($app, &$free): void {
            $this->assertThrows(HandlerFailedException::class, static fn () => $app->bus()->dispatch(new Locked(7)));
            $free = $app->isFree('item-7');
        };
        $app->bus()->dispatch(new Outer(7));

        self::assertFalse($free);
        self::assertTrue($app->isFree('item-7'));
    }

    public function testAWriterWithinAReaderIsAWriterForItsTime(): void
    {
        $app = $this->app();
        $readable = [];
        $canRead = static function () use ($app, &$readable): void {
            $lock = $app->locks()->createLock('item-7');
            $readable[] = $lock->acquireRead();
        };
        $app->handler->does[Locked::class] = $canRead;
        $app->handler->does[Reader::class] = static function () use ($app, $canRead): void {
            $canRead();
            $app->bus()->dispatch(new Locked(7));
            $canRead();
        };
        $app->bus()->dispatch(new Reader(7));

        self::assertSame([true, false, true], $readable);
        self::assertTrue($app->isFree('item-7'));
    }

    public function testAWriterWithinAReaderIsRefusedWhileOthersRead(): void
    {
        $app = $this->app();
        $reader = $app->locks()->createLock('item-7');
        $reader->acquireRead();
        $app->handler->does[Reader::class] = static fn () => $app->bus()->dispatch(new Locked(7));
        $e = $this->assertThrows(HandlerFailedException::class, static fn () => $app->bus()->dispatch(new Reader(7)));

        self::assertInstanceOf(RequeueException::class, array_values($e->getWrappedExceptions())[0]);
        self::assertSame(['Reader 7'], $app->handler->handled);
    }

    public function testNamesAStoreThatDoesNotExist(): void
    {
        $app = $this->app();
        $e = $this->assertThrows(\LogicException::class, static fn () => $app->bus()->dispatch(new Plain(), [new Lock(store: 'other')]));

        self::assertStringContainsString('There is no store "other" under latch.stores', $e->getMessage());
    }

    public function testIsNotTheOneOfAnotherDispatchOfTheEnvelope(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $envelope = $app->bus()->dispatch(new Plain(), [new Lock('mine')]);
        $again = $app->bus()->dispatch($envelope->withoutAll(RedeliveryStamp::class));

        self::assertNotNull($envelope->last(LatchStamp::class));
        self::assertSame('{}', $again->last(LatchStamp::class)?->data);
    }
}
