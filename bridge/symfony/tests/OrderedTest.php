<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Symfony\Messenger\Bounded;
use Latch\Symfony\Messenger\Chain;
use Latch\Symfony\Messenger\Guard\Sweeper;
use Latch\Symfony\Messenger\LatchStamp;
use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\Once;
use Latch\Symfony\Messenger\Ordered;
use Latch\Symfony\Messenger\ParkedStamp;
use Latch\Symfony\Messenger\SkippedStamp;
use Latch\Symfony\Tests\Message\InOrder;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Support\App;
use Latch\Symfony\Tests\Support\AppTestCase;
use Symfony\Component\Messenger\Event\SendMessageToTransportsEvent;
use Symfony\Component\Messenger\Event\WorkerMessageFailedEvent;
use Symfony\Component\Messenger\Event\WorkerMessageHandledEvent;
use Symfony\Component\Messenger\Exception\UnrecoverableMessageHandlingException;

final class OrderedTest extends AppTestCase
{
    public function testOneTravelsAtATimeAndTheOthersFollow(): void
    {
        $app = $this->ordered();
        $parked = [];
        for ($i = 1; $i <= 4; $i++) {
            $parked[] = $app->bus()->dispatch(new InOrder($i))->last(ParkedStamp::class) !== null;
        }
        self::assertSame([false, true, true, true], $parked);
        self::assertSame(1, $app->waiting('a'));
        $app->bus()->dispatch(new InOrder(1, 'other'));
        self::assertSame(2, $app->waiting('a'));
        $overlap = false;
        $app->handler->does[InOrder::class] = static function (InOrder $message) use ($app, &$overlap): void {
            $overlap = $overlap || $app->isFree("ordered.$message->key");
        };
        $app->work();

        self::assertFalse($overlap);
        self::assertSame([1, 2, 3, 4], $this->handled($app, 'k'));
        self::assertSame([1], $this->handled($app, 'other'));
        self::assertSame(0, $app->waiting('a'));
        self::assertNull($app->bus()->dispatch(new InOrder(5))->last(ParkedStamp::class));
    }

    public function testAcrossTransports(): void
    {
        $app = $this->app([InOrder::class => 'a', Plain::class => 'b']);
        $rule = new Ordered('k');
        $app->bus()->dispatch(new InOrder(1));
        $app->bus()->dispatch(new Plain(2), [$rule]);
        $app->bus()->dispatch(new InOrder(3));
        $app->work('b');
        self::assertSame([], $app->handler->handled);
        $app->work('a');
        $app->work('b');
        $app->work('a');

        self::assertSame(['InOrder 1', 'Plain 2', 'InOrder 3'], $app->handler->handled);
    }

    public function testOneThatFailsKeepsItsPlace(): void
    {
        $app = $this->ordered();
        $tries = 0;
        $app->handler->does[InOrder::class] = static function (InOrder $message) use (&$tries): void {
            if ($message->id === 1 && ++$tries < 3) {
                throw new \DomainException('no');
            }
        };
        $app->bus()->dispatch(new InOrder(1));
        $app->bus()->dispatch(new InOrder(2));
        $app->work();
        self::assertNotNull($app->bus()->dispatch(new InOrder(3))->last(ParkedStamp::class));
        $app->workAll();

        self::assertSame([1, 1, 1, 2, 3], $this->handled($app, 'k'));
    }

    public function testOneThatHasFailedForGoodLetsTheOthersGoAndIsHandledAloneLater(): void
    {
        $app = $this->ordered();
        $fails = true;
        $app->handler->does[InOrder::class] = static function (InOrder $message) use (&$fails): void {
            if ($message->id === 1 && $fails) {
                throw new UnrecoverableMessageHandlingException('never');
            }
        };
        $app->bus()->dispatch(new InOrder(1));
        $app->bus()->dispatch(new InOrder(2));
        $app->work();
        self::assertSame([1, 2], $this->handled($app, 'k'));
        self::assertSame(['failed InOrder 1', 'handled InOrder 2'], $app->events);
        $fails = false;
        $app->workAll('f');

        self::assertSame([1, 2, 1], $this->handled($app, 'k'));
    }

    public function testARefusedLockKeepsThePlace(): void
    {
        $app = $this->ordered();
        $lock = $app->locks()->createLock('x');
        $lock->acquire();
        $app->bus()->dispatch(new InOrder(1), [new Lock('x')]);
        $app->bus()->dispatch(new InOrder(2));
        $app->work();
        self::assertSame([], $app->handler->handled);
        $lock->release();
        $app->workAll();

        self::assertSame([1, 2], $this->handled($app, 'k'));
    }

    public function testADeliveryThatComesAgainIsHandledOnce(): void
    {
        $app = $this->ordered();
        $envelope = $app->bus()->dispatch(new InOrder(1));
        $app->bus()->dispatch(new InOrder(2));
        $app->work();
        $app->transport('a')->send($envelope);
        $app->work();

        self::assertSame([1, 2], $this->handled($app, 'k'));
        self::assertContains(
            'info: ' . InOrder::class . ' was skipped: This message of "k" was handled already',
            $app->log()->lines,
        );
    }

    /** A worker that dies with the next one in its hand has not acknowledged the one before. */
    public function testTheNextOneIsNotLostWithItsWorker(): void
    {
        $app = $this->ordered();
        $rule = new Ordered('k', lease: 0.3);
        $first = $app->bus()->dispatch(new InOrder(1), [$rule]);
        $app->bus()->dispatch(new InOrder(2), [$rule]);
        $place = json_decode($first->last(LatchStamp::class)->data, true)['ordered'];
        $dead = $app->sync()->createSequence('k', lease: 0.3);
        $dead->resume($place['ticket']);
        self::assertNotNull($dead->next($place['ticket']));
        $app->work();
        self::assertSame(['again InOrder 1 0'], $app->events);
        usleep(350_000);
        $app->workAll();

        self::assertSame([2], $this->handled($app, 'k'));
    }

    /** The lock of a dead worker may outlast its lease. */
    public function testOneThatIsRefusedTheLockOfItsKeyKeepsNoLease(): void
    {
        $app = $this->ordered();
        $app->bus()->dispatch(new InOrder(1));
        $lock = $app->locks()->createLock('ordered.k');
        $lock->acquire();
        $app->work();
        self::assertSame(['again InOrder 1 0'], $app->events);
        self::assertSame(0.0, $app->sync()->createSequence('k')->inspect()['heldFor']);
        $lock->release();
        $app->workAll();

        self::assertSame([1], $this->handled($app, 'k'));
    }

    /** As on AMQP, where the death of a worker may be the last try of its message. */
    public function testOneThatFailsForGoodWhileADeadWorkerHasItsTurnLetsTheOthersGo(): void
    {
        $app = $this->ordered();
        $rule = new Ordered('k', lease: 0.3);
        $envelope = $app->bus()->dispatch(new InOrder(1), [$rule]);
        $app->bus()->dispatch(new InOrder(2), [$rule]);
        $place = json_decode($envelope->last(LatchStamp::class)->data, true)['ordered'];
        $app->transport('a')->reset();
        $dead = $app->sync()->createSequence('k', lease: 0.3);
        self::assertSame('go', $dead->resume($place['ticket'])->state);
        $app->dispatcher()->dispatch(new WorkerMessageFailedEvent($envelope, 'a', new UnrecoverableMessageHandlingException('dead')));
        $app->workAll();

        self::assertSame([2], $this->handled($app, 'k'));
    }

    public function testTheNextIsSentWhenTheFailureTransportHasTheOneBefore(): void
    {
        $app = $this->ordered();
        $app->bus()->dispatch(new InOrder(1));
        $app->bus()->dispatch(new InOrder(2));
        $app->handler->does[InOrder::class] = static fn () => throw new UnrecoverableMessageHandlingException('no');
        $waiting = [];
        // Symfony's listener, which sends it there, is called at -100.
        foreach ([-99, -101] as $priority) {
            $app->dispatcher()->addListener(WorkerMessageFailedEvent::class, static function () use ($app, &$waiting): void {
                $waiting[] = [$app->waiting('f'), $app->waiting('a')];
            }, $priority);
        }
        $app->work(messages: 1);

        self::assertSame([[0, 1], [1, 1]], $waiting, 'The first one, which is not acknowledged.');
        self::assertSame(1, $app->waiting('a'));
        unset($app->handler->does[InOrder::class]);
        $app->work();
        self::assertSame([1, 2], $this->handled($app, 'k'));
    }

    public function testOneWhoseDispatchFailsHoldsNobodyUp(): void
    {
        $app = $this->ordered();
        $refuse = static fn () => throw new \RuntimeException('The transport is away.');
        $app->dispatcher()->addListener(SendMessageToTransportsEvent::class, $refuse);
        $this->assertThrows(\RuntimeException::class, static fn () => $app->bus()->dispatch(new InOrder(1)));
        $app->dispatcher()->removeListener(SendMessageToTransportsEvent::class, $refuse);
        self::assertNull($app->bus()->dispatch(new InOrder(2))->last(ParkedStamp::class));
        $app->work();

        self::assertSame([2], $this->handled($app, 'k'));
    }

    public function testOneThatNeverComesHoldsTheOthersUpForItsPatience(): void
    {
        $app = $this->app([InOrder::class => 'a', Plain::class => 'a']);
        $rule = new Ordered('k', patience: 0.2);
        $lost = $app->bus()->dispatch(new Plain(1), [$rule]);
        $app->transport('a')->reset();
        $app->bus()->dispatch(new Plain(2), [$rule]);
        self::assertSame(0, $app->waiting('a'));
        usleep(250_000);
        $app->bus()->dispatch(new Plain(3), [$rule]);
        $app->workAll();
        self::assertSame(['Plain 2', 'Plain 3'], $app->handler->handled);
        $app->transport('a')->send($lost);
        $app->workAll();

        self::assertSame(['Plain 2', 'Plain 3', 'Plain 1'], $app->handler->handled);
    }

    public function testAnIdleWorkerSendsThemToTheFallbackOneAfterTheOther(): void
    {
        $app = $this->app([InOrder::class => 'a', Plain::class => 'a']);
        $rule = new Ordered('k', patience: 0.3, fallback: 'b');
        $app->bus()->dispatch(new Plain(1), [$rule]);
        $app->transport('a')->reset();
        foreach ([2, 3, 4] as $id) {
            $app->bus()->dispatch(new Plain($id), [$rule]);
        }
        $app->work('a');
        self::assertSame([0, 0], [$app->waiting('a'), $app->waiting('b')]);
        usleep(350_000);
        $app->work('a');
        self::assertSame([0, 1], [$app->waiting('a'), $app->waiting('b')]);
        $app->work('b', 1);
        self::assertSame([0, 1], [$app->waiting('a'), $app->waiting('b')]);
        $app->work('b');
        self::assertSame(['Plain 2', 'Plain 3', 'Plain 4'], $app->handler->handled);
        $app->bus()->dispatch(new Plain(5), [$rule]);

        self::assertSame([1, 0], [$app->waiting('a'), $app->waiting('b')]);
        self::assertContains(
            'warning: A message of "k" was not handled within 0.3 s: those behind it go on without it',
            $app->log()->lines,
        );
    }

    public function testOneThatIsHandledForLongerThanItsPatienceHoldsTheOthersUp(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $rule = new Ordered('k', patience: 0.1, lease: 0.1);
        $meanwhile = [];
        $app->handler->does[Plain::class] = static function (Plain $message) use ($app, $rule, &$meanwhile): void {
            if ($message->id === '1') {
                usleep(150_000);
                $app->bus()->dispatch(new Plain('3'), [$rule]);
                $app->get(Sweeper::class)->sweep(0.0);
                $meanwhile = [\count($app->transport('a')->getSent()), \count($app->handler->handled)];
            }
        };
        $app->bus()->dispatch(new Plain('1'), [$rule]);
        $app->bus()->dispatch(new Plain('2'), [$rule]);
        $app->work();

        self::assertSame([1, 1], $meanwhile);
        self::assertSame(['Plain 1', 'Plain 2', 'Plain 3'], $app->handler->handled);
    }

    /** The one before it never comes again. */
    public function testTheNextOneIsNotLostWithItsWorkerNorWithTheQueue(): void
    {
        $app = $this->ordered();
        $rule = new Ordered('k', fallback: 'b', lease: 0.2);
        $first = $app->bus()->dispatch(new InOrder(1), [$rule]);
        $app->bus()->dispatch(new InOrder(2), [$rule]);
        $place = json_decode($first->last(LatchStamp::class)->data, true)['ordered'];
        $dead = $app->sync()->createSequence('k', lease: 0.2);
        $dead->resume($place['ticket']);
        self::assertNotNull($dead->next($place['ticket']));
        $app->transport('a')->reset();
        $app->get(Sweeper::class)->sweep(0.0);
        self::assertSame(0, $app->waiting('a'));
        usleep(250_000);
        $app->get(Sweeper::class)->sweep(0.0);
        $app->work();

        self::assertSame([2], $this->handled($app, 'k'));
    }

    public function testALateOneIsTold(): void
    {
        $app = $this->ordered();
        $rule = new Ordered('k', patience: 0.1);
        $late = $app->bus()->dispatch(new InOrder(1), [$rule]);
        $app->transport('a')->reset();
        usleep(150_000);
        $app->bus()->dispatch(new InOrder(2), [$rule]);
        $app->transport('a')->send($late);
        $app->workAll();

        self::assertEqualsCanonicalizing([1, 2], $this->handled($app, 'k'));
        self::assertContains(
            'error: ' . InOrder::class . ' comes later than its patience, and is handled out of the order of "k"',
            $app->log()->lines,
        );
    }

    public function testAFallbackThatDoesNotExistIsRefused(): void
    {
        $app = $this->ordered();
        $e = $this->assertThrows(
            \LogicException::class,
            static fn () => $app->bus()->dispatch(new InOrder(1), [new Ordered('k', fallback: 'nowhere')]),
        );

        self::assertSame('#[Ordered] of ' . InOrder::class . ': there is no transport "nowhere".', $e->getMessage());
    }

    public function testAParkedMessageThatWasChangedIsRefusedAndTheNextOneGoes(): void
    {
        $app = $this->ordered();
        $app->bus()->dispatch(new InOrder(1));
        $app->sync()->createSequence('k')->enter('forged', 'a payload that this application has not made');
        $app->bus()->dispatch(new InOrder(3));
        $app->work();

        self::assertSame([1, 3], $this->handled($app, 'k'));
        self::assertStringContainsString('critical: A message that waited for its turn cannot be read', implode("\n", $app->log()->lines));
    }

    public function testOtherRulesOfParkedMessagesCount(): void
    {
        $app = $this->ordered();
        $once = new Once('o');
        $app->bus()->dispatch(new InOrder(1));
        $app->bus()->dispatch(new InOrder(2), [$once, new Chain(new Plain())]);
        self::assertNotNull($app->bus()->dispatch(new InOrder(3), [$once])->last(SkippedStamp::class));
        $app->work();

        self::assertSame(['InOrder 1', 'InOrder 2', 'Plain x'], $app->handler->handled);
        self::assertTrue($app->isFree('once.o'));
    }

    public function testTheNextOneIsSentBeforeTheOneBeforeIsAcknowledged(): void
    {
        $app = $this->ordered();
        $app->bus()->dispatch(new InOrder(1));
        $app->bus()->dispatch(new InOrder(2));
        $sent = [];
        $app->dispatcher()->addListener(WorkerMessageHandledEvent::class, static function () use ($app, &$sent): void {
            $sent[] = [\count($app->transport('a')->getSent()), \count($app->transport('a')->getAcknowledged())];
        }, -1000);
        $app->work();

        self::assertSame([[2, 0], [2, 1]], $sent);
    }

    public function testWhatAFullQueueDoesNotTakeIsOutOfOrder(): void
    {
        $app = $this->ordered();
        $rule = new Bounded(2, 'queue');
        foreach ([1, 2, 3] as $id) {
            $app->bus()->dispatch(new InOrder($id), [$rule]);
        }
        self::assertSame([3], $this->handled($app, 'k'));
        $elsewhere = $app->bus()->dispatch(new InOrder(4), [new Bounded(2, 'queue', 'transport:b')]);
        self::assertNotNull($elsewhere->last(ParkedStamp::class));
        $app->work('a');
        self::assertSame([3, 1, 2], $this->handled($app, 'k'));
        $app->work('b');

        self::assertSame([3, 1, 2, 4], $this->handled($app, 'k'));
    }

    public function testWithoutATransportEachIsHandledAtOnceAndSeveralAreRefused(): void
    {
        $app = $this->app();
        $app->bus()->dispatch(new InOrder(1));
        self::assertSame([1], $this->handled($app, 'k'));
        $app = $this->app([InOrder::class => ['a', 'b']]);
        $e = $this->assertThrows(\LogicException::class, static fn () => $app->bus()->dispatch(new InOrder(1)));

        self::assertStringContainsString('#[Ordered] needs one transport; ' . InOrder::class . ' goes to "a", "b".', $e->getMessage());
    }

    private function ordered(): App
    {
        return $this->app([InOrder::class => 'a']);
    }

    /**
     * @return list<int>
     */
    private function handled(App $app, string $key): array
    {
        return array_values(array_map(
            static fn (InOrder $message): int => $message->id,
            array_filter($app->handler->messages, static fn (object $message): bool => $message instanceof InOrder && $message->key === $key),
        ));
    }
}
