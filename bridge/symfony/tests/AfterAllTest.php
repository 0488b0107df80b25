<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Key;
use Latch\Symfony\Messenger\AfterAll;
use Latch\Symfony\Messenger\Guard\Sweeper;
use Latch\Symfony\Messenger\HandOver;
use Latch\Symfony\Messenger\LatchStamp;
use Latch\Symfony\Messenger\Once;
use Latch\Symfony\Messenger\ParkedStamp;
use Latch\Symfony\Messenger\PartsFailedStamp;
use Latch\Symfony\Tests\Message\Locked;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Message\Single;
use Latch\Symfony\Tests\Support\App;
use Latch\Symfony\Tests\Support\AppTestCase;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Event\SendMessageToTransportsEvent;
use Symfony\Component\Messenger\Exception\UnrecoverableMessageHandlingException;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\ReceivedStamp;

final class AfterAllTest extends AppTestCase
{
    public function testTheLastStepComesOnceAfterAllParts(): void
    {
        $app = $this->parts();
        $envelope = $app->bus()->dispatch(new Plain(), [new AfterAll([new Locked(1), new Locked(2), new Locked(3)])]);
        self::assertNotNull($envelope->last(ParkedStamp::class));
        self::assertSame([3, 0], [$app->waiting('a'), $app->waiting('b')]);
        $app->work('a', 2);
        self::assertSame(0, $app->waiting('b'));
        $app->work('a');
        self::assertSame([0, 1], [$app->waiting('a'), $app->waiting('b')]);
        $app->work('b');

        self::assertSame(['Locked 1', 'Locked 2', 'Locked 3', 'Plain x'], $app->handler->handled);
    }

    public function testAPartThatIsDeliveredTwiceCountsOnce(): void
    {
        $app = $this->parts();
        $app->bus()->dispatch(new Plain(), [new AfterAll([new Locked(1), new Locked(2)])]);
        $app->transport('a')->send($app->transport('a')->getSent()[0]);
        $app->work('a', 1);
        $again = $app->transport('a')->getSent()[2];
        self::assertSame(1, $again->getMessage()->id);
        $app->work('a');
        self::assertSame(1, $app->waiting('b'));
        $app->transport('a')->send($again);
        $app->work('a');

        self::assertSame(1, $app->waiting('b'));
    }

    public function testAPartThatHasFailedHoldsItBackUntilItWasHandled(): void
    {
        $app = $this->parts();
        $app->handler->does[Locked::class] = static function (Locked $message): void {
            if ($message->id === 1) {
                throw new \DomainException('no');
            }
        };
        $app->bus()->dispatch(new Plain(), [new AfterAll([new Locked(1), new Locked(2)])]);
        $app->workAll('a');
        self::assertSame([1, 0], [$app->waiting('f'), $app->waiting('b')]);
        $app->handler->does = [];
        $app->workAll('f');

        self::assertSame([0, 1], [$app->waiting('f'), $app->waiting('b')]);
    }

    public function testFailuresMayBeAllowed(): void
    {
        $app = $this->parts();
        $app->handler->does[Locked::class] = static function (Locked $message): void {
            if ($message->id === 2) {
                throw new \DomainException('no');
            }
        };
        $app->bus()->dispatch(new Plain(), [new AfterAll([new Locked(1), new Locked(2), new Locked(3)], allowFailures: true)]);
        $app->workAll('a');

        self::assertSame([1, 1], [$app->waiting('f'), $app->waiting('b')]);
        self::assertSame([1], $app->transport('b')->getSent()[0]->last(PartsFailedStamp::class)?->parts);
    }

    public function testAPartThatIsSkippedIsNotWaitedFor(): void
    {
        $app = $this->parts();
        $app->bus()->dispatch(new Single(1));
        $app->bus()->dispatch(new Plain(), [new AfterAll([new Single(1), new Locked(2)])]);
        $app->workAll('a');

        self::assertSame(1, $app->waiting('b'));
    }

    public function testInOneProcess(): void
    {
        $app = $this->app();
        $app->bus()->dispatch(new Plain(), [new AfterAll([new Locked(1), new Locked(2)])]);

        self::assertSame(['Locked 1', 'Locked 2', 'Plain x'], $app->handler->handled);
    }

    public function testStampsOfThePartsAndOfTheLastStepCount(): void
    {
        $app = $this->parts();
        $app->bus()->dispatch(new Plain(), [
            new DelayStamp(5000),
            new Once('last'),
            new AfterAll([new Envelope(new Locked(1), [new DelayStamp(7000)])]),
        ]);
        self::assertSame(7000, $app->transport('a')->getSent()[0]->last(DelayStamp::class)?->getDelay());
        $app->workAll('a');

        self::assertSame(5000, $app->transport('b')->getSent()[0]->last(DelayStamp::class)?->getDelay());
        self::assertNull($app->transport('b')->getSent()[0]->last(ReceivedStamp::class));
        self::assertFalse($app->isFree('once.last'));
        $app->workAll('b');
        self::assertTrue($app->isFree('once.last'));
    }

    public function testALockThatIsHandedOverLastsUntilTheLastStepWasHandled(): void
    {
        $app = $this->parts();
        $key = new Key('report');
        $app->locks()->createLockFromKey($key, 30.0, false)->acquire();
        $app->bus()->dispatch(new Plain(), [new HandOver($key), new AfterAll([new Locked(1)])]);
        $app->work('a');
        self::assertFalse($app->isFree('report'));
        $app->work('b');

        self::assertSame(['Locked 1', 'Plain x'], $app->handler->handled);
        self::assertTrue($app->isFree('report'));
    }

    public function testABatchThatCannotBeSentHasNoLastStep(): void
    {
        $app = $this->parts();
        $sent = 0;
        $app->dispatcher()->addListener(SendMessageToTransportsEvent::class, static function () use (&$sent): void {
            if (++$sent === 2) {
                throw new \RuntimeException('The transport is away.');
            }
        });
        $this->assertThrows(
            \RuntimeException::class,
            static fn () => $app->bus()->dispatch(new Plain(), [new AfterAll([new Locked(1), new Locked(2)])]),
        );
        $app->workAll('a');

        self::assertSame(['Locked 1'], $app->handler->handled);
        self::assertSame(0, $app->waiting('b'));
    }

    /** So that its message comes again, and with it the claim of the last step. */
    public function testAWorkerThatCannotSendTheLastStepDoesNotAcknowledgeThePart(): void
    {
        $app = $this->parts();
        $app->bus()->dispatch(new Plain(), [new AfterAll([new Locked(1)])]);
        $refuse = static fn () => throw new \RuntimeException('The transport is away.');
        $app->dispatcher()->addListener(SendMessageToTransportsEvent::class, $refuse);
        $this->assertThrows(\RuntimeException::class, static fn () => $app->work('a'));

        self::assertSame([1, 0], [$app->waiting('a'), $app->waiting('b')]);
    }

    /** The part that was delivered again does not wait for it. */
    public function testTheLastStepOfAProcessThatHasDiedComesBySweeping(): void
    {
        $app = $this->parts();
        $app->bus()->dispatch(new Plain(), [new AfterAll([new Locked(1)])]);
        $part = json_decode($app->transport('a')->getSent()[0]->last(LatchStamp::class)->data, true)['part'];
        $dead = $app->sync()->createCountDown($part['group'])->arrive((string) $part['member'], claim: 0.4);
        self::assertNotNull($dead->payload);
        $before = hrtime(true);
        $app->work('a');
        self::assertLessThan(0.4e9, hrtime(true) - $before);
        self::assertSame([0, 0], [$app->waiting('a'), $app->waiting('b')]);
        $app->get(Sweeper::class)->sweep(0.0);
        self::assertSame(0, $app->waiting('b'), 'The process may be alive.');
        usleep(450_000);
        $app->get(Sweeper::class)->sweep(0.0);
        $app->get(Sweeper::class)->sweep(0.0);

        self::assertSame(1, $app->waiting('b'));
    }

    /** As by a process that dies when it has dispatched it, before it has said so. */
    public function testALastStepThatIsDispatchedTwiceIsHandledOnce(): void
    {
        $app = $this->parts();
        $tries = 0;
        $app->handler->does[Plain::class] = static function () use (&$tries): void {
            if (++$tries === 1) {
                throw new \DomainException('no');
            }
        };
        $app->bus()->dispatch(new Plain(), [new AfterAll([new Locked(1)])]);
        $app->work('a');
        $app->transport('b')->send($app->transport('b')->getSent()[0]);
        $app->workAll('b');

        self::assertSame(2, $tries);
        self::assertSame(0, $app->waiting('b'));
        self::assertContains(
            'info: ' . Plain::class . ' was skipped: This message after parts was handled already',
            $app->log()->lines,
        );
    }

    public function testALastStepThatHasFailedIsHandledFromTheFailureTransport(): void
    {
        $app = $this->parts();
        $app->handler->does[Plain::class] = static fn () => throw new UnrecoverableMessageHandlingException('never');
        $app->bus()->dispatch(new Plain(), [new AfterAll([new Locked(1)])]);
        $app->work('a');
        $app->work('b');
        $app->handler->does = [];
        $app->workAll('f');

        self::assertSame(['Locked 1', 'Plain x', 'Plain x'], $app->handler->handled);
        self::assertSame(['handled Locked 1', 'failed Plain x', 'handled Plain x'], $app->events);
    }

    public function testALastStepThatIsDoneNeedsNoSweeping(): void
    {
        $app = $this->parts();
        $app->bus()->dispatch(new Plain(), [new AfterAll([new Locked(1)])]);
        $app->transport('a')->send($app->transport('a')->getSent()[0]);
        $app->work('a');

        self::assertSame([], $app->get(Sweeper::class)->sweep(0.0));
        self::assertSame(1, $app->waiting('b'));
    }

    public function testAPartWhoseBatchIsGoneIsHandledAsAnyMessage(): void
    {
        $app = $this->parts();
        $app->bus()->dispatch(new Plain(), [new AfterAll([new Locked(1)], ttl: 0.1)]);
        usleep(150_000);
        $app->work('a');

        self::assertSame(['handled Locked 1'], $app->events);
        self::assertSame([0, 0], [$app->waiting('a'), $app->waiting('b')]);
        self::assertStringContainsString('A rule of ' . Locked::class . ' cannot be ended', implode("\n", $app->log()->lines));
    }

    private function parts(): App
    {
        return $this->app([Locked::class => 'a', Single::class => 'a', Plain::class => 'b']);
    }
}
