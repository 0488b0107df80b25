<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Exception\ExceptionInterface as LockException;
use Latch\Symfony\Messenger\Exception\RequeueException;
use Latch\Symfony\Messenger\LatchStamp;
use Latch\Symfony\Messenger\Limit;
use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\SkippedStamp;
use Latch\Symfony\Messenger\Throttle;
use Latch\Symfony\Tests\Message\Locked;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Message\Single;
use Latch\Symfony\Tests\Support\App;
use Latch\Symfony\Tests\Support\AppTestCase;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\ConsoleEvents;
use Symfony\Component\Console\Event\ConsoleSignalEvent;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Output\NullOutput;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Transport\InMemory\InMemoryTransport;

/**
 * What goes wrong.
 */
final class TroubleTest extends AppTestCase
{
    /** Nobody listens at this port. */
    private const AWAY = ['stores' => ['default' => 'redis://127.0.0.1:1?timeout=0.1']];

    public function testWithoutTheStoreAMessageComesBackLater(): void
    {
        $app = $this->app([Locked::class => 'a'], self::AWAY);
        $app->bus()->dispatch(new Locked(7));
        for ($i = 0; $i < 5; $i++) {
            $app->work();
            self::assertSame(10_000, $this->lastDelay($app));
            $app->clock->sleep(11);
        }

        self::assertSame(array_fill(0, 5, 'again Locked 7 0'), $app->events);
        self::assertSame([], $app->handler->handled);
    }

    public function testWithoutTheStoreAMessageFailsIfConfiguredSo(): void
    {
        $app = $this->app([Locked::class => 'a'], [...self::AWAY, 'messenger' => ['requeue' => ['on_store_error' => 'fail']]]);
        $app->bus()->dispatch(new Locked(7));
        $app->workAll();

        self::assertSame(['again Locked 7 1', 'again Locked 7 2', 'failed Locked 7'], $app->events);
        self::assertSame([], $app->handler->handled);
    }

    public function testWithoutTheStoreADispatchIsAnExceptionThatNamesTheResource(): void
    {
        $app = $this->app([Single::class => 'a'], self::AWAY);
        $e = $this->assertThrows(RequeueException::class, static fn () => $app->bus()->dispatch(new Locked(7)));
        self::assertSame('item-7', $e->resource);
        self::assertInstanceOf(LockException::class, $e->getPrevious());
        $this->assertThrows(LockException::class, static fn () => $app->bus()->dispatch(new Single(7)));

        self::assertSame(0, $app->waiting('a'));
    }

    public function testASignalEndsAWaitAndTheMessageGoesBack(): void
    {
        $app = $this->app([Locked::class => 'a']);
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $app->bus()->dispatch(new Locked(7), [new Lock('item-7', wait: 60.0)]);
        $app->bus()->dispatch(new Plain());
        $before = hrtime(true);
        $this->withAlarm($app, \SIGTERM, static fn () => $app->work());

        self::assertLessThan(30_000_000_000, hrtime(true) - $before);
        self::assertSame(['again Locked 7 0'], $app->events);
        self::assertSame(0, $this->lastDelay($app));
        $lock->release();
        $app->workAll();
        self::assertSame(['again Locked 7 0', 'handled Locked 7'], $app->events);
    }

    public function testASignalAtAnotherTimeIsLeftAlone(): void
    {
        $app = $this->app([Locked::class => 'a']);
        $app->handler->does[Locked::class] = fn () => $this->signal($app, \SIGTERM);
        $app->bus()->dispatch(new Locked(7));
        $app->work();

        self::assertSame(['handled Locked 7'], $app->events);
    }

    public function testAnotherSignalDoesNotEndAWait(): void
    {
        $app = $this->app([Locked::class => 'a']);
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $app->bus()->dispatch(new Locked(7), [new Lock('item-7', wait: 1.5)]);
        $before = hrtime(true);
        $this->withAlarm($app, \SIGUSR1, static fn () => $app->work());

        self::assertGreaterThanOrEqual(1_500_000_000, hrtime(true) - $before);
    }

    /** As the scheduler's transport is: nothing can be sent to it. */
    public function testWhatCannotBeSentAgainIsSkipped(): void
    {
        $app = $this->app();
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $transport = new InMemoryTransport();
        $transport->send(new Envelope(new Locked(7)));
        $app->workOn('scheduler_default', $transport);

        self::assertSame(['handled Locked 7'], $app->events);
        self::assertSame([], $app->handler->handled);
        self::assertContains(
            'info: ' . Locked::class . ' was skipped: The lock "item-7" is taken',
            $app->log()->lines,
        );
    }

    public function testWhatCannotBeSentAgainFailsWhenAnInnerMessageIsRefused(): void
    {
        $app = $this->app();
        $app->handler->does[Plain::class] = static fn () => $app->bus()->dispatch(new Locked(7));
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $transport = new InMemoryTransport();
        $transport->send(new Envelope(new Plain()));
        $app->workOn('scheduler_default', $transport);

        self::assertSame(['failed Plain x'], $app->events);
    }

    public function testAMessageFromTheFailureTransportThatIsRefusedGoesBackThere(): void
    {
        $app = $this->app([Locked::class => 'a']);
        $app->handler->does[Locked::class] = static fn () => throw new \DomainException('no');
        $app->bus()->dispatch(new Locked(7));
        $app->workAll();
        self::assertSame(1, $app->waiting('f'));
        $app->handler->does = [];
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $app->events = [];
        $app->work('f');
        self::assertSame(['again Locked 7 0'], $app->events);
        self::assertSame([0, 1], [$app->waiting('a'), $app->waiting('f')]);
        $lock->release();
        $app->workAll('f');

        self::assertSame(['again Locked 7 0', 'handled Locked 7'], $app->events);
    }

    public function testAStampThatCannotBeReadFailsAsAnyMistakeDoes(): void
    {
        $app = $this->app();
        $app->transport('a')->send(new Envelope(new Plain(), [new LatchStamp('{')]));
        $app->workAll();

        self::assertSame(['again Plain x 1', 'again Plain x 2', 'failed Plain x'], $app->events);
        self::assertSame(1, $app->waiting('f'));
    }

    public function testAMessageThatWasSentWithoutTheBundleIsLocked(): void
    {
        $app = $this->app();
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $app->transport('a')->send(new Envelope(new Locked(7)));
        $app->work();

        self::assertSame(['again Locked 7 0'], $app->events);
    }

    public function testAKeyThatCannotBeMadeNamesMessageAndPlaceholder(): void
    {
        $app = $this->app([Plain::class => 'a']);
        foreach ([new Limit(1, 'item-{nmae}'), new Throttle(1, 1.0, 'item-{nmae}')] as $rule) {
            $this->assertThrows(\LogicException::class, static fn () => $app->bus()->dispatch(new Plain(), [$rule]));
        }
        $e = $this->assertThrows(\LogicException::class, static fn () => $app->bus()->dispatch(new Plain(), [new Lock('item-{nmae}')]));
        self::assertSame(0, $app->waiting('a'));
        self::assertStringContainsString(
            'The key "item-{nmae}" cannot be made of ' . Plain::class . ': the message has no public method nmae()',
            $e->getMessage(),
        );
        self::assertNull($this->direct($app, new Plain())->last(SkippedStamp::class));
    }

    private function lastDelay(App $app): ?int
    {
        $sent = $app->transport('a')->getSent();

        return end($sent)->last(DelayStamp::class)?->getDelay();
    }

    /** A second from now, as Symfony's console does when the signal comes. */
    private function withAlarm(App $app, int $signal, \Closure $call): void
    {
        $before = pcntl_async_signals(true);
        pcntl_signal(\SIGALRM, fn () => $this->signal($app, $signal));
        pcntl_alarm(1);
        try {
            $call();
        } finally {
            pcntl_alarm(0);
            pcntl_signal(\SIGALRM, \SIG_DFL);
            pcntl_async_signals($before);
        }
    }

    private function signal(App $app, int $signal): void
    {
        $event = new ConsoleSignalEvent(new Command('messenger:consume'), new ArrayInput([]), new NullOutput(), $signal);
        $app->dispatcher()->dispatch($event, ConsoleEvents::SIGNAL);
    }
}
