<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Symfony\Messenger\Chain;
use Latch\Symfony\Messenger\LatchStamp;
use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\Once;
use Latch\Symfony\Tests\Message\Locked;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Message\Single;
use Latch\Symfony\Tests\Message\Two;
use Latch\Symfony\Tests\Support\AppTestCase;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Event\SendMessageToTransportsEvent;
use Symfony\Component\Messenger\Stamp\DelayStamp;

final class ChainTest extends AppTestCase
{
    public function testEachFollowsTheOneBefore(): void
    {
        $app = $this->app([Plain::class => 'a', Locked::class => 'b']);
        $app->bus()->dispatch(new Plain(1), [new Chain(new Locked(2), new Plain(3), new Locked(3))]);
        self::assertSame([1, 0], [$app->waiting('a'), $app->waiting('b')]);
        $app->work('a');
        self::assertSame([0, 1], [$app->waiting('a'), $app->waiting('b')]);
        $app->work('b');
        $app->work('a');
        $app->work('b');

        self::assertSame(['Plain 1', 'Locked 2', 'Plain 3', 'Locked 3'], $app->handler->handled);
    }

    public function testFollowsInOneProcessWithoutATransport(): void
    {
        $app = $this->app();
        $app->handler->does[Locked::class] = static function () use ($app): void {
            self::assertFalse($app->isFree('item-7'));
        };
        $app->bus()->dispatch(new Locked(7), [new Chain(new Locked(7), new Plain())]);

        self::assertSame(['Locked 7', 'Locked 7', 'Plain x'], $app->handler->handled);
    }

    public function testAFailedStepGoesOnWhenItIsRetried(): void
    {
        $app = $this->app([Plain::class => 'a', Two::class => 'b']);
        $tries = 0;
        $app->handler->does[Plain::class] = static function () use (&$tries): void {
            if (++$tries < 3) {
                throw new \DomainException('no');
            }
        };
        $app->bus()->dispatch(new Plain(), [new Chain(new Two())]);
        $app->work();
        self::assertSame(0, $app->waiting('b'));
        $app->workAll();

        self::assertSame(1, $app->waiting('b'));
    }

    public function testAParkedStepStopsAndGoesOnFromTheFailureTransport(): void
    {
        $app = $this->app([Plain::class => 'a', Two::class => 'b']);
        $app->handler->does[Plain::class] = static fn () => throw new \DomainException('no');
        $app->bus()->dispatch(new Plain(), [new Chain(new Two())]);
        $app->workAll();
        self::assertSame([1, 0], [$app->waiting('f'), $app->waiting('b')]);
        $app->handler->does = [];
        $app->workAll('f');

        self::assertSame([0, 1], [$app->waiting('f'), $app->waiting('b')]);
    }

    public function testAStepWhoseNextOneCannotBeSentIsHandledAgain(): void
    {
        $app = $this->app([Plain::class => 'a', Two::class => 'b']);
        $app->bus()->dispatch(new Plain(), [new Chain(new Two())]);
        $refuse = static fn () => throw new \RuntimeException('The transport is away.');
        $app->dispatcher()->addListener(SendMessageToTransportsEvent::class, $refuse);
        $app->work('a');
        $app->dispatcher()->removeListener(SendMessageToTransportsEvent::class, $refuse);
        self::assertSame(['again Plain x 1'], $app->events);
        $app->workAll('a');

        self::assertSame(['Plain x', 'Plain x'], $app->handler->handled);
        self::assertSame(1, $app->waiting('b'));
    }

    public function testStampsOfStepsAndRulesOfTheirsCount(): void
    {
        $app = $this->app([Plain::class => 'a', Single::class => 'a']);
        $app->bus()->dispatch(new Plain(), [new Chain(new Envelope(new Single(1), [new DelayStamp(5000)]))]);
        $app->work();
        self::assertSame(['Plain x'], $app->handler->handled);
        self::assertFalse($app->isFree('once.job-1'));
        $app->clock->sleep(6);
        $app->work();

        self::assertSame(['Plain x', 'Single 1'], $app->handler->handled);
        self::assertTrue($app->isFree('once.job-1'));
    }

    public function testRulesThatAreStampsOfStepsCount(): void
    {
        $app = $this->app([Plain::class => 'a', Two::class => 'b']);
        $app->bus()->dispatch(new Plain(), [new Chain(new Envelope(new Two(), [new Lock('x', wait: 1.0), new Once('y')]))]);
        $app->work('a');
        self::assertFalse($app->isFree('once.y'));
        $app->handler->does[Two::class] = static function () use ($app): void {
            self::assertFalse($app->isFree('x'));
        };
        $app->work('b');

        self::assertSame(['handled Plain x', 'handled Two x'], $app->events);
        self::assertTrue($app->isFree('once.y'));
    }

    public function testAStampThatCannotTravelIsRefusedAtTheDispatch(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $step = new Envelope(new Two(), [new Chain(new Plain())]);
        $e = $this->assertThrows(\LogicException::class, static fn () => $app->bus()->dispatch(new Plain(), [new Chain($step)]));

        self::assertSame('A stamp ' . Chain::class . ' cannot travel within another message.', $e->getMessage());
        self::assertSame(0, $app->waiting('a'));
    }

    public function testAChangedStepIsRefused(): void
    {
        $app = $this->app([Plain::class => 'a', Two::class => 'b']);
        $envelope = $app->bus()->dispatch(new Plain(), [new Chain(new Two(7))]);
        $app->work();
        $stamp = $envelope->last(LatchStamp::class);
        $data = json_decode($stamp->data, true);
        $data['chain'][0] = str_replace('i:7;', 'i:8;', $data['chain'][0]);
        self::assertNotSame(json_decode($stamp->data, true), $data);
        $app->transport('a')->send($envelope->withoutAll(LatchStamp::class)->with(new LatchStamp(json_encode($data))));
        $app->workAll();

        self::assertSame(1, $app->waiting('b'));
        self::assertSame(1, $app->waiting('f'));
        self::assertStringContainsString('wrong signature', implode("\n", $app->log()->lines));
    }
}
