<?php

declare(strict_types=1);

namespace Latch\Tests\Additions;

use Latch\Exception\InvalidArgumentException;
use Latch\Exception\LockAcquiringException;
use Latch\Exception\LockConflictedException;
use Latch\Key;
use Latch\Lock;
use Latch\PersistingStoreInterface;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Latch\Tests\Support\ExpiringStore;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\Redis\Servers;
use Latch\Tests\Support\TestCase;
use Latch\Tests\Support\Wait;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * acquire(true, $timeout) and acquireRead(true, $timeout) wait no longer than they are told; and a wait
 * that only the waiting thread itself could end is refused.
 */
final class TimeoutTest extends TestCase
{
    /** Seconds that a wait may take longer than asked for, on a machine that is busy. */
    private const LATE = 5.0;

    /**
     * @return iterable<string, array{string}>
     */
    public static function methods(): iterable
    {
        yield 'acquire' => ['acquire'];
        yield 'acquireRead' => ['acquireRead'];
    }

    /**
     * @return iterable<string, array{string, string}>
     */
    public static function methodsAndStores(): iterable
    {
        foreach (self::methods() as [$method]) {
            foreach (['flock', 'memory', 'redis', 'PHP'] as $store) {
                yield "$method, $store" => [$method, $store];
            }
        }
    }

    #[DataProvider('methods')]
    public function testAWaitEndsAtItsTimeout(string $method): void
    {
        $peer = $this->holder();
        $lock = $this->lock();

        $start = hrtime(true);
        self::assertFalse($lock->$method(true, 0.1));
        $elapsed = (hrtime(true) - $start) / 1e9;
        self::assertGreaterThanOrEqual(0.1, $elapsed);
        self::assertLessThan(0.1 + self::LATE, $elapsed);
        self::assertFalse($lock->isAcquired());
        self::assertFalse($lock->isHeld());

        // Nothing is left behind: theirs is free after its release.
        $peer->do('call', 'theirs', 'release');
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
    }

    #[DataProvider('methods')]
    public function testAWaitThatWasGivenUpTakesNothingLater(string $method): void
    {
        $peer = $this->holder();
        $lock = $this->lock();
        for ($i = 0; $i < 20; ++$i) {
            self::assertFalse($lock->$method(true, 0.001));
        }

        $peer->do('call', 'theirs', 'release');
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        $peer->do('call', 'theirs', 'release');
        self::assertTrue($lock->$method(true, 1.0));
        self::assertTrue($lock->isHeld());
    }

    #[DataProvider('methods')]
    public function testALockThatIsReleasedInTimeIsTaken(string $method): void
    {
        $peer = $this->holder();
        $peer->ask('release when queued', 'theirs', getmypid(), $this->lockFile('r'));
        $lock = $this->lock();

        self::assertTrue($lock->$method(true, Wait::LIMIT));
        self::assertNull($peer->answer());
        self::assertTrue($lock->isHeld());
    }

    #[DataProvider('methodsAndStores')]
    public function testAFreeLockIsTakenWithoutWaiting(string $method, string $store): void
    {
        foreach ([0.0, 1e-9, 10.0, 1e300, \INF, null] as $timeout) {
            $lock = new Lock(new Key('r'), $this->store($store));
            self::assertTrue($lock->$method(true, $timeout));
            self::assertTrue($lock->isHeld());
            $lock->release();
        }
    }

    #[DataProvider('methodsAndStores')]
    public function testNoTimeAtAllIsOneTry(string $method, string $store): void
    {
        $store = $this->store($store);
        $holder = new Lock(new Key('r'), $store);
        $holder->acquire();
        $lock = new Lock(new Key('r'), $store);

        $start = hrtime(true);
        self::assertFalse($lock->$method(true, 0.0));
        self::assertLessThan(self::LATE, (hrtime(true) - $start) / 1e9);
        self::assertTrue($holder->isAcquired());
    }

    #[DataProvider('methods')]
    public function testAnInfiniteTimeoutIsNone(string $method): void
    {
        $peer = $this->holder();
        $peer->ask('release when queued', 'theirs', getmypid(), $this->lockFile('r'));

        self::assertTrue($this->lock()->$method(true, \INF));
        self::assertNull($peer->answer());
    }

    /**
     * @return iterable<string, array{string, string, bool, float}>
     */
    public static function wrongTimeouts(): iterable
    {
        foreach (self::methodsAndStores() as $name => [$method, $store]) {
            yield "$name, without blocking" => [$method, $store, false, 1.0];
            yield "$name, nothing without blocking" => [$method, $store, false, 0.0];
            yield "$name, infinity without blocking" => [$method, $store, false, \INF];
            yield "$name, negative" => [$method, $store, true, -0.001];
            yield "$name, minus infinity" => [$method, $store, true, -\INF];
            yield "$name, not a number" => [$method, $store, true, \NAN];
        }
    }

    #[DataProvider('wrongTimeouts')]
    public function testAWrongTimeoutIsRefused(string $method, string $store, bool $blocking, float $timeout): void
    {
        $store = $this->store($store);
        $key = new Key('r');
        $lock = new Lock($key, $store);

        $e = $this->assertThrows(
            InvalidArgumentException::class,
            null,
            static fn () => $lock->$method($blocking, $timeout),
        );
        self::assertStringContainsString('$timeout', $e->getMessage());
        self::assertFalse($store->exists($key));
        self::assertTrue((new Lock(new Key('r'), $store))->acquire());
    }

    public function testAPhpStoreIsTriedUntilTheTimeout(): void
    {
        $store = $this->createMock(PersistingStoreInterface::class);
        $store->expects(self::atLeast(2))->method('save')->willThrowException(new LockConflictedException());
        $lock = new Lock(new Key('r'), $store, autoRelease: false);

        $start = hrtime(true);
        self::assertFalse($lock->acquire(true, 0.3));
        $elapsed = (hrtime(true) - $start) / 1e9;
        self::assertGreaterThanOrEqual(0.3, $elapsed);
        self::assertLessThan(0.3 + self::LATE, $elapsed);
    }

    /**
     * @return iterable<string, array{string, string, string}>
     */
    public static function ownWaits(): iterable
    {
        foreach (['flock', 'another flock', 'memory'] as $store) {
            yield "$store: writer for writer" => [$store, 'acquire', 'acquire'];
            yield "$store: reader for writer" => [$store, 'acquire', 'acquireRead'];
            yield "$store: writer for reader" => [$store, 'acquireRead', 'acquire'];
        }
    }

    #[DataProvider('ownWaits')]
    public function testAWaitThatOnlyThisThreadCouldEndIsRefused(string $store, string $held, string $asked): void
    {
        $theirs = $this->store($store);
        $holder = new Lock(new Key('r'), $theirs);
        $holder->$held();
        $key = new Key('r');
        $lock = new Lock($key, $store === 'another flock' ? $this->store('flock') : $theirs);

        $e = $this->assertThrows(LockAcquiringException::class, null, static fn () => $lock->$asked(true));
        self::assertMatchesRegularExpression('/deadlock|this (very )?(thread|process)/i', $e->getMessage());
        self::assertStringContainsString('"r"', $e->getMessage());
        self::assertFalse($lock->isAcquired());
        self::assertTrue($holder->isAcquired());

        // With an end to the wait there is no deadlock.
        self::assertFalse($lock->$asked(true, 0.01));
        $holder->release();
        self::assertTrue($lock->$asked(true));
    }

    #[DataProvider('ownWaits')]
    public function testInfinityIsNoEndToTheWait(string $store, string $held, string $asked): void
    {
        $theirs = $this->store($store);
        $holder = new Lock(new Key('r'), $theirs);
        $holder->$held();
        $lock = new Lock(new Key('r'), $store === 'another flock' ? $this->store('flock') : $theirs);

        $this->assertThrows(LockAcquiringException::class, null, static fn () => $lock->$asked(true, \INF));
    }

    #[DataProvider('ownWaits')]
    public function testAPromotionThatOnlyThisThreadCouldLetThroughIsRefused(string $store): void
    {
        $theirs = $this->store($store);
        $reader = new Lock(new Key('r'), $theirs);
        $reader->acquireRead();
        $lock = new Lock(new Key('r'), $store === 'another flock' ? $this->store('flock') : $theirs);
        $lock->acquireRead();

        $this->assertThrows(LockAcquiringException::class, null, static fn () => $lock->acquire(true));
        self::assertTrue($reader->isAcquired());
        self::assertTrue($lock->isAcquired(), 'The refused wait changed nothing.');
        $reader->release();
        self::assertTrue($lock->acquire(true));
    }

    private function holder(): Peer
    {
        $peer = Peer::symfony($this->directory());
        $peer->do('lock', 'theirs', 'r');
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));

        return $peer;
    }

    private function lock(): Lock
    {
        return new Lock(new Key('r'), new FlockStore($this->directory()));
    }

    private function store(string $name): PersistingStoreInterface
    {
        return match ($name) {
            'memory' => new InMemoryStore(),
            'redis' => Client::store(Servers::fresh()->port),
            'PHP' => new ExpiringStore(),
            default => new FlockStore($this->directory()),
        };
    }
}
