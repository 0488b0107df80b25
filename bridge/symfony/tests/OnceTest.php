<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Key;
use Latch\Symfony\Messenger\Flow\PackedKey;
use Latch\Symfony\Messenger\HandOver;
use Latch\Symfony\Messenger\IfNewer;
use Latch\Symfony\Messenger\LatchStamp;
use Latch\Symfony\Messenger\Once;
use Latch\Symfony\Messenger\SkippedStamp;
use Latch\Symfony\Tests\Message\Anything;
use Latch\Symfony\Tests\Message\Locked;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Message\Single;
use Latch\Symfony\Tests\Message\SingleAttempt;
use Latch\Symfony\Tests\Message\SingleInQueue;
use Latch\Symfony\Tests\Support\App;
use Latch\Symfony\Tests\Support\AppTestCase;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\Messenger\Event\SendMessageToTransportsEvent;
use Symfony\Component\Messenger\Exception\HandlerFailedException;
use Symfony\Component\Messenger\Stamp\SentStamp;

final class OnceTest extends AppTestCase
{
    public function testOthersAreIgnoredWhileOneIsOnItsWay(): void
    {
        $app = $this->app([Single::class => 'a']);
        self::assertTrue($this->isSent($app, new Single(1)));
        $ignored = $app->bus()->dispatch(new Single(1));
        self::assertSame('A message of "once.job-1" is on its way already', $ignored->last(SkippedStamp::class)?->reason);
        self::assertNull($ignored->last(SentStamp::class));
        self::assertTrue($this->isSent($app, new Single(2)));
        self::assertSame(2, $app->waiting('a'));

        $during = null;
        $app->handler->does[Single::class] = function () use ($app, &$during): void {
            $during ??= $this->isSent($app, new Single(1));
        };
        $app->work();

        self::assertFalse($during);
        self::assertTrue($this->isSent($app, new Single(1)));
    }

    public function testOthersAreIgnoredUntilItHasFailedForGood(): void
    {
        $app = $this->app([Single::class => 'a']);
        $app->handler->does[Single::class] = static fn () => throw new \DomainException('no');
        $app->bus()->dispatch(new Single(1));
        $app->work();
        self::assertFalse($this->isSent($app, new Single(1)));
        $app->clock->sleep(60);
        $app->work();
        self::assertFalse($this->isSent($app, new Single(1)));
        $app->clock->sleep(60);
        $app->work();
        self::assertSame(1, $app->waiting('f'));

        self::assertTrue($this->isSent($app, new Single(1)));
    }

    public function testOneMayWaitWhileOneIsHandled(): void
    {
        $app = $this->app([SingleInQueue::class => 'a']);
        $app->bus()->dispatch(new SingleInQueue(1));
        self::assertFalse($this->isSent($app, new SingleInQueue(1)));
        $during = [];
        $app->handler->does[SingleInQueue::class] = function () use ($app, &$during): void {
            if (\count($during) < 2) {
                $during[] = $this->isSent($app, new SingleInQueue(1));
                $during[] = $this->isSent($app, new SingleInQueue(1));
            }
        };
        $app->work();

        self::assertSame([true, false], $during);
        self::assertCount(2, $app->handler->handled);
    }

    public function testEndsWithTheFirstAttempt(): void
    {
        $app = $this->app([SingleAttempt::class => 'a']);
        $app->handler->does[SingleAttempt::class] = static fn () => throw new \DomainException('no');
        $app->bus()->dispatch(new SingleAttempt(1));
        self::assertFalse($this->isSent($app, new SingleAttempt(1)));
        $app->work();

        self::assertTrue($this->isSent($app, new SingleAttempt(1)));
    }

    public function testTheKeyIsFreeWhenTheTransportRefuses(): void
    {
        $app = $this->app([Single::class => 'a']);
        $refuse = static fn () => throw new \RuntimeException('The transport is away.');
        $app->dispatcher()->addListener(SendMessageToTransportsEvent::class, $refuse);
        $this->assertThrows(\RuntimeException::class, static fn () => $app->bus()->dispatch(new Single(1)));
        $app->dispatcher()->removeListener(SendMessageToTransportsEvent::class, $refuse);

        self::assertTrue($this->isSent($app, new Single(1)));
    }

    public function testWithTwoTransportsBothCopiesAreHandledAndTheKeyIsFree(): void
    {
        $app = $this->app([Single::class => ['a', 'b']]);
        $app->bus()->dispatch(new Single(1));
        self::assertFalse($this->isSent($app, new Single(1)));
        $app->work('a');
        $app->work('b');

        self::assertSame(['Single 1', 'Single 1'], $app->handler->handled);
        self::assertTrue($this->isSent($app, new Single(1)));
    }

    public function testWhenTheSecondTransportRefusesTheFirstOnesCopyHasTheKey(): void
    {
        $app = $this->app([Anything::class => ['n', 'a']]);
        $cannotBeSerialised = static fn () => null;
        $this->assertThrows(\Throwable::class, static fn () => $app->bus()->dispatch(new Anything($cannotBeSerialised)));
        self::assertSame([1, 0], [$app->waiting('n'), $app->waiting('a')]);
        self::assertFalse($app->isFree('once.anything'));
        $app->work('n');

        self::assertTrue($app->isFree('once.anything'));
    }

    public function testTheKeyIsFreeWhenAnotherRuleSkips(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $app->bus()->dispatch(new Plain(2), [new IfNewer('v', '{id}')]);
        self::assertFalse($this->isSent($app, new Plain(1), new IfNewer('v', '{id}'), new Once('o')));

        self::assertTrue($app->isFree('once.o'));
    }

    public function testWithoutATransportOthersAreIgnoredWhileItIsHandled(): void
    {
        $app = $this->app();
        $inner = null;
        $app->handler->does[Single::class] = static function () use ($app, &$inner): void {
            $inner ??= $app->bus()->dispatch(new Single(1));
        };
        $app->bus()->dispatch(new Single(1));

        self::assertNotNull($inner->last(SkippedStamp::class));
        self::assertTrue($app->isFree('once.job-1'));
    }

    public function testASyncTransportIsTheSame(): void
    {
        $app = $this->app([Single::class => 's']);
        $app->bus()->dispatch(new Single(1));
        self::assertSame(['Single 1'], $app->handler->handled);
        self::assertTrue($app->isFree('once.job-1'));
        $app->handler->does[Single::class] = static fn () => throw new \DomainException('no');
        $this->assertThrows(HandlerFailedException::class, static fn () => $app->bus()->dispatch(new Single(1)));

        self::assertTrue($app->isFree('once.job-1'));
    }

    public function testOneWhoseKeyRanOutIsHandledAfterTheOtherOne(): void
    {
        $app = $this->app([Single::class => ['a'], Plain::class => 'b']);
        $app->bus()->dispatch(new Single(1));
        $travelled = $app->transport('a')->getSent()[0]->last(LatchStamp::class);
        $this->forceRelease($app, $travelled);
        $other = $app->locks()->createLock('once.job-1');
        $other->acquire();
        $app->work();
        self::assertSame(['again Single 1 0'], $app->events);
        $other->release();
        $app->workAll();

        self::assertSame(['again Single 1 0', 'handled Single 1'], $app->events);
        self::assertTrue($app->isFree('once.job-1'));
    }

    public function testAStampIsAsGoodAsAnAttributeAndALockOfTheSameNameAnotherOne(): void
    {
        $app = $this->app([Locked::class => 'a']);
        self::assertTrue($this->isSent($app, new Locked(1), new Once('item-{id}')));
        self::assertFalse($this->isSent($app, new Locked(1), new Once('item-{id}')));
        $app->work();

        self::assertSame(['handled Locked 1'], $app->events);
        self::assertTrue($this->isSent($app, new Locked(1), new Once('item-{id}')));
    }

    public function testAStoreThatBindsLocksToAProcessIsRefusedAtDispatch(): void
    {
        $app = $this->app([Single::class => 'a'], ['stores' => ['default' => 'flock://' . sys_get_temp_dir()]]);
        $e = $this->assertThrows(\LogicException::class, static fn () => $app->bus()->dispatch(new Single('flock')));

        self::assertStringContainsString('let latch.messenger.sync_store be a store in Redis', $e->getMessage());
        self::assertSame(0, $app->waiting('a'));
        self::assertTrue($app->isFree('once.job-flock'));
    }

    public function testHandsALockOver(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $key = new Key('report-1');
        $app->locks()->createLockFromKey($key, 1800, false)->acquire();
        $app->bus()->dispatch(new Plain(), [new HandOver($key)]);
        unset($key);
        self::assertFalse($app->isFree('report-1'));
        $tries = 0;
        $app->handler->does[Plain::class] = static function () use ($app, &$tries): void {
            self::assertFalse($app->isFree('report-1'));
            if (++$tries === 1) {
                throw new \DomainException('not yet');
            }
        };
        $app->work();
        self::assertFalse($app->isFree('report-1'));
        $app->workAll();

        self::assertSame(['again Plain x 1', 'handled Plain x'], $app->events);
        self::assertTrue($app->isFree('report-1'));
    }

    public function testALockWhoseMessageCannotBeSentIsStillTheSenders(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $lock = $app->locks()->createLockFromKey($key = new Key('report-1'), 1800, false);
        $lock->acquire();
        $refuse = static fn () => throw new \RuntimeException('The transport is away.');
        $app->dispatcher()->addListener(SendMessageToTransportsEvent::class, $refuse);
        $this->assertThrows(\RuntimeException::class, static fn () => $app->bus()->dispatch(new Plain(), [new HandOver($key)]));

        self::assertTrue($lock->isAcquired());
    }

    public function testALockOfAMessageThatFailsWhereItIsDispatchedEnds(): void
    {
        $app = $this->app();
        $key = new Key('report-1');
        $app->locks()->createLockFromKey($key, 1800, false)->acquire();
        $app->handler->does[Plain::class] = static fn () => throw new \DomainException('no');
        $this->assertThrows(HandlerFailedException::class, static fn () => $app->bus()->dispatch(new Plain(), [new HandOver($key)]));

        self::assertTrue($app->isFree('report-1'));
    }

    public function testALockThatIsNotHeldCannotBeHandedOver(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $e = $this->assertThrows(\LogicException::class, static fn () => $app->bus()->dispatch(new Plain(), [new HandOver(new Key('report-1'))]));

        self::assertStringContainsString('HandOver: the lock "report-1" is not held by this key', $e->getMessage());
        self::assertSame(0, $app->waiting('a'));
        self::assertTrue($app->isFree('report-1'));
    }

    private function isSent(App $app, object $message, object ...$stamps): bool
    {
        return $app->bus()->dispatch($message, $stamps)->last(SkippedStamp::class) === null;
    }

    /** As the end of its time does. */
    private function forceRelease(App $app, LatchStamp $stamp): void
    {
        $key = json_decode($stamp->data, true)['once']['key'];
        $app->locks()->createLockFromKey(PackedKey::unpack($key))->release();
    }
}
