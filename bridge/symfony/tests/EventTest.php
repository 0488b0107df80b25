<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Symfony\Messenger\Event\LockAcquiredEvent;
use Latch\Symfony\Messenger\Event\LockRefusedEvent;
use Latch\Symfony\Messenger\Event\LockReleasedEvent;
use Latch\Symfony\Messenger\Event\MessageParkedEvent;
use Latch\Symfony\Messenger\Event\MessageRequeuedEvent;
use Latch\Symfony\Messenger\Event\MessageSkippedEvent;
use Latch\Symfony\Messenger\Event\RuleEvent;
use Latch\Symfony\Messenger\Flow\Recorder;
use Latch\Symfony\Messenger\Limit;
use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\Throttle;
use Latch\Symfony\Tests\Message\InOrder;
use Latch\Symfony\Tests\Message\Locked;
use Latch\Symfony\Tests\Message\Outer;
use Latch\Symfony\Tests\Message\Patient;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Message\Single;
use Latch\Symfony\Tests\Message\Skipping;
use Latch\Symfony\Tests\Message\Versioned;
use Latch\Symfony\Tests\Support\App;
use Latch\Symfony\Tests\Support\AppTestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use Psr\EventDispatcher\EventDispatcherInterface;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\Messenger\Envelope;

final class EventTest extends AppTestCase
{
    private const EVENTS = [
        LockAcquiredEvent::class,
        LockRefusedEvent::class,
        LockReleasedEvent::class,
        MessageParkedEvent::class,
        MessageSkippedEvent::class,
        MessageRequeuedEvent::class,
    ];

    /** @var list<RuleEvent> */
    private array $events = [];

    public function testALockIsAcquiredAndReleased(): void
    {
        $app = $this->listening();
        $during = null;
        $app->handler->does[Locked::class] = function () use (&$during): void {
            $during = \count($this->events);
        };
        $app->bus()->dispatch(new Locked(7));

        [$acquired, $released] = $this->events;
        self::assertInstanceOf(LockAcquiredEvent::class, $acquired);
        self::assertInstanceOf(LockReleasedEvent::class, $released);
        self::assertSame(1, $during);
        self::assertSame('item-7', $acquired->resource);
        self::assertSame(0.0, $acquired->waited);
        self::assertSame('item-7', $released->resource);
        self::assertGreaterThan(0.0, $released->held);
        self::assertEquals(new Locked(7), $released->envelope->getMessage());
        self::assertCount(2, $this->events);
    }

    public function testLabelsHaveTheKeyWithPlaceholders(): void
    {
        $app = $this->listening();
        $this->direct($app, new Plain(), new Limit(3, 'plain-{id}'), new Lock('plain-lock'));

        self::assertSame(
            [
                ['message' => Plain::class, 'rule' => 'Lock', 'key' => 'plain-lock'],
                ['message' => Plain::class, 'rule' => 'Limit', 'key' => 'plain-{id}'],
                ['message' => Plain::class, 'rule' => 'Limit', 'key' => 'plain-{id}'],
                ['message' => Plain::class, 'rule' => 'Lock', 'key' => 'plain-lock'],
            ],
            array_map(static fn (RuleEvent $event): array => $event->labels(), $this->events),
        );
    }

    public function testALockThatAnOuterMessageHasIsAcquiredOnce(): void
    {
        $app = $this->listening();
        $app->handler->does[Outer::class] = fn (Outer $message) => $app->bus()->dispatch(new Locked($message->id));
        $app->bus()->dispatch(new Outer(7));

        self::assertSame(['LockAcquired item-7', 'LockReleased item-7'], $this->told());
        self::assertInstanceOf(Outer::class, $this->events[1]->envelope->getMessage());
    }

    public function testARefusedMessageIsRequeued(): void
    {
        $app = $this->listening([Locked::class => 'a']);
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $app->bus()->dispatch(new Locked(7));
        $app->work();
        $app->clock->sleep(60);
        $app->work();

        self::assertSame(
            ['LockRefused item-7', 'MessageRequeued item-7', 'LockRefused item-7', 'MessageRequeued item-7'],
            $this->told(),
        );
        [$refused, , , $requeued] = $this->events;
        self::assertInstanceOf(LockRefusedEvent::class, $refused);
        self::assertSame('The lock "item-7" is taken', $refused->reason);
        self::assertInstanceOf(MessageRequeuedEvent::class, $requeued);
        self::assertSame(2, $requeued->count);
        self::assertGreaterThanOrEqual(1.0, $requeued->delay);
        self::assertSame(['message' => Locked::class, 'rule' => 'Lock', 'key' => 'item-{id}'], $requeued->labels());
    }

    public function testTellsHowLongAMessageHasWaited(): void
    {
        $app = $this->listening();
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $this->assertThrows(\RuntimeException::class, static fn () => $app->bus()->dispatch(new Patient(7)));
        $lock->release();
        $app->bus()->dispatch(new Patient(7));

        [$refused, $acquired] = $this->events;
        self::assertInstanceOf(LockRefusedEvent::class, $refused);
        self::assertGreaterThanOrEqual(0.2, $refused->waited);
        self::assertInstanceOf(LockAcquiredEvent::class, $acquired);
        self::assertLessThan($refused->waited, $acquired->waited);
    }

    /**
     * @param \Closure(App): mixed $dispatch
     * @param array{rule: string, key: string} $labels
     */
    #[DataProvider('skipped')]
    public function testAMessageIsSkipped(\Closure $dispatch, string $reason, array $labels): void
    {
        $app = $this->listening([Single::class => 'a', Versioned::class => 'a']);
        $lock = $app->locks()->createLock('item-7');
        $lock->acquire();
        $dispatch($app);

        $event = end($this->events);
        self::assertInstanceOf(MessageSkippedEvent::class, $event);
        self::assertSame($reason, $event->reason);
        self::assertSame($labels, array_diff_key($event->labels(), ['message' => 0]));
    }

    /**
     * @return iterable<string, array{\Closure(App): mixed, string, array{rule: string, key: string}}>
     */
    public static function skipped(): iterable
    {
        yield 'by a lock' => [
            static fn (App $app) => $app->bus()->dispatch(new Skipping(7)),
            'The lock "item-7" is taken',
            ['rule' => 'Lock', 'key' => 'item-{id}'],
        ];
        yield 'at its dispatch' => [
            static fn (App $app) => [$app->bus()->dispatch(new Single(7)), $app->bus()->dispatch(new Single(7))],
            'A message of "once.job-7" is on its way already',
            ['rule' => 'Once', 'key' => 'job-{id}'],
        ];
        yield 'by a newer one' => [
            static fn (App $app) => [$app->bus()->dispatch(new Versioned(2)), $app->bus()->dispatch(new Versioned(1))],
            'Version 1 of "user" is not newer than 2',
            ['rule' => 'IfNewer', 'key' => 'user'],
        ];
    }

    public function testAMessageIsParked(): void
    {
        $app = $this->listening([InOrder::class => 'a']);
        $app->bus()->dispatch(new InOrder(1));
        $app->bus()->dispatch(new InOrder(2));

        self::assertSame(['MessageParked'], $this->told());
        self::assertSame(['message' => InOrder::class, 'rule' => 'Ordered', 'key' => '{key}'], $this->events[0]->labels());
    }

    public function testASlotThatIsNotThereYetIsRefused(): void
    {
        $app = $this->listening();
        $throttle = new Throttle(1, 3600.0, 'slow');
        $this->direct($app, new Plain(), $throttle);
        $this->assertThrows(\RuntimeException::class, fn () => $this->direct($app, new Plain(), $throttle));

        self::assertSame(['LockRefused slow'], $this->told());
        self::assertSame('Throttle', $this->events[0]->labels()['rule']);
    }

    public function testAListenerThatFailsChangesNothing(): void
    {
        $app = $this->app();
        foreach (self::EVENTS as $event) {
            $app->dispatcher()->addListener($event, static fn () => throw new \DomainException('the metrics are full'));
        }
        $app->bus()->dispatch(new Locked(7));

        self::assertSame(['Locked 7'], $app->handler->handled);
        self::assertTrue($app->isFree('item-7'));
        self::assertContains(
            'error: A listener to ' . LockAcquiredEvent::class . ' has failed: the metrics are full',
            $app->log()->lines,
        );
    }

    public function testAnEventIsMadeOnlyForAListener(): void
    {
        $made = 0;
        $make = static function () use (&$made): LockReleasedEvent {
            $made++;

            return new LockReleasedEvent(new Envelope(new Plain()), null, 'x', 1.0);
        };
        $told = 0;
        $symfonys = new EventDispatcher();
        $symfonys->addListener(LockAcquiredEvent::class, static fn () => $told++);
        (new Recorder())->tell(LockReleasedEvent::class, $make);
        (new Recorder($symfonys))->tell(LockReleasedEvent::class, $make);
        self::assertSame(0, $made);

        $other = new class () implements EventDispatcherInterface {
            /** @var list<object> */
            public array $events = [];

            public function dispatch(object $event): object
            {
                return $this->events[] = $event;
            }
        };
        (new Recorder($other))->tell(LockReleasedEvent::class, $make);
        self::assertCount(1, $other->events, 'A dispatcher that does not know its listeners gets all events.');
        self::assertSame(0, $told);
    }

    /**
     * @param array<class-string, string|list<string>> $routing
     */
    private function listening(array $routing = []): App
    {
        $app = $this->app($routing);
        foreach (self::EVENTS as $event) {
            $app->dispatcher()->addListener($event, function (RuleEvent $event): void {
                $this->events[] = $event;
            });
        }

        return $app;
    }

    /**
     * @return list<string>
     */
    private function told(): array
    {
        return array_map(
            static fn (RuleEvent $event): string => substr((new \ReflectionClass($event))->getShortName(), 0, -5)
                . (isset($event->resource) ? " $event->resource" : ''),
            $this->events,
        );
    }
}
