<?php

declare(strict_types=1);

namespace Latch\Tests\Additions;

use Latch\Exception\InvalidArgumentException;
use Latch\Exception\LockAcquiringException;
use Latch\Exception\LockConflictedException;
use Latch\Exception\LockReleasingException;
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
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * synchronized(): acquire, call, release.
 */
final class SynchronizedTest extends TestCase
{
    /**
     * @return iterable<string, array{string}>
     */
    public static function stores(): iterable
    {
        yield 'flock' => ['flock'];
        yield 'memory' => ['memory'];
        yield 'redis' => ['redis'];
        yield 'PHP' => ['PHP'];
    }

    #[DataProvider('stores')]
    public function testTheCallbackRunsUnderTheLock(string $store): void
    {
        $store = $this->store($store);
        $lock = new Lock(new Key('r'), $store, 100.0);
        $other = new Lock(new Key('r'), $store);

        $arguments = null;
        $result = $lock->synchronized(static function (mixed ...$given) use ($lock, $other, &$arguments): array {
            $arguments = $given;

            return [$lock->isHeld(), $lock->isAcquired(), $other->acquire()];
        });

        self::assertSame([true, true, false], $result);
        self::assertSame([], $arguments);
        self::assertFalse($lock->isHeld());
        self::assertTrue($other->acquire());
    }

    #[TestWith([null])]
    #[TestWith([0])]
    #[TestWith([['list']])]
    #[TestWith([false])]
    public function testItReturnsWhatTheCallbackReturns(mixed $value): void
    {
        $lock = new Lock(new Key('r'), new InMemoryStore());

        self::assertSame($value, $lock->synchronized(static fn (): mixed => $value));
    }

    public function testEveryCallableWillDo(): void
    {
        $lock = new Lock(new Key('r'), new InMemoryStore());

        self::assertSame(\PHP_VERSION, $lock->synchronized('phpversion'));
        self::assertSame('r', $lock->synchronized([new Key('r'), '__toString']));
        self::assertSame(7, $lock->synchronized(callback: static fn (int $n = 7): int => $n, timeout: null));
        $this->assertThrows(\TypeError::class, null, static fn () => $lock->synchronized('no such function'));
        self::assertFalse($lock->isAcquired());
    }

    #[DataProvider('stores')]
    public function testItIsReleasedWhenTheCallbackThrows(string $store): void
    {
        $store = $this->store($store);
        $lock = new Lock(new Key('r'), $store);
        foreach ([new \DomainException('mine'), new \Error('mine'), new LockConflictedException('mine')] as $thrown) {
            $caught = $this->assertThrows(
                $thrown::class,
                'mine',
                static fn () => $lock->synchronized(static fn () => throw $thrown),
            );
            self::assertSame($thrown, $caught);
            self::assertNull($caught->getPrevious());
            self::assertFalse($lock->isAcquired());
            self::assertFalse($lock->isHeld());
        }
        self::assertTrue((new Lock(new Key('r'), $store))->acquire());
    }

    #[DataProvider('stores')]
    public function testALockThatIsHeldAlreadyStaysHeld(string $store): void
    {
        $store = $this->store($store);
        $lock = new Lock(new Key('r'), $store);
        $lock->acquire();

        self::assertSame('inner', $lock->synchronized(
            static fn (): string => $lock->synchronized(static fn (): string => 'inner'),
        ));
        self::assertTrue($lock->isHeld());
        self::assertFalse((new Lock(new Key('r'), $store))->acquire());

        $this->assertThrows(
            \DomainException::class,
            'mine',
            static fn () => $lock->synchronized(static fn () => throw new \DomainException('mine')),
        );
        self::assertTrue($lock->isHeld());
    }

    #[DataProvider('stores')]
    public function testACallbackMayReleaseTheLockItself(string $store): void
    {
        $store = $this->store($store);
        $lock = new Lock(new Key('r'), $store);

        self::assertSame('done', $lock->synchronized(static function () use ($lock): string {
            $lock->release();

            return 'done';
        }));
        self::assertTrue((new Lock(new Key('r'), $store))->acquire());
    }

    #[TestWith([0.0])]
    #[TestWith([0.05])]
    public function testItGivesUpAtTheTimeout(float $timeout): void
    {
        $peer = Peer::symfony($this->directory());
        $peer->do('lock', 'theirs', 'r');
        $peer->do('call', 'theirs', 'acquire');
        $lock = new Lock(new Key('r'), new FlockStore($this->directory()));
        $called = false;

        $start = hrtime(true);
        $this->assertThrows(
            LockConflictedException::class,
            null,
            static function () use ($lock, $timeout, &$called): void {
                $lock->synchronized(static function () use (&$called): void {
                    $called = true;
                }, $timeout);
            },
        );
        self::assertGreaterThanOrEqual($timeout, (hrtime(true) - $start) / 1e9);
        self::assertFalse($called);
        self::assertFalse($lock->isHeld());
    }

    public function testItWaitsForTheLock(): void
    {
        $peer = Peer::symfony($this->directory());
        $peer->do('lock', 'theirs', 'r');
        foreach ([null, 20.0] as $timeout) {
            $peer->do('call', 'theirs', 'acquire');
            $peer->ask('release when queued', 'theirs', getmypid(), $this->lockFile('r'));
            $lock = new Lock(new Key('r'), new FlockStore($this->directory()));

            self::assertSame('done', $lock->synchronized(static fn (): string => 'done', $timeout));
            self::assertNull($peer->answer());
        }
    }

    #[TestWith([-1.0])]
    #[TestWith([\NAN])]
    public function testAWrongTimeoutIsRefused(float $timeout): void
    {
        $lock = new Lock(new Key('r'), new InMemoryStore());
        $e = $this->assertThrows(
            InvalidArgumentException::class,
            null,
            static fn () => $lock->synchronized(static fn () => self::fail('It was called.'), $timeout),
        );

        self::assertStringContainsString('$timeout', $e->getMessage());
        self::assertFalse($lock->isAcquired());
    }

    public function testAWaitForOneselfIsRefused(): void
    {
        $store = new InMemoryStore();
        $holder = new Lock(new Key('r'), $store);
        $holder->acquire();
        $lock = new Lock(new Key('r'), $store);

        $this->assertThrows(
            LockAcquiringException::class,
            null,
            static fn () => $lock->synchronized(static fn () => self::fail('It was called.')),
        );
    }

    public function testAReleaseThatFailsIsReported(): void
    {
        $store = $this->createMock(PersistingStoreInterface::class);
        $store->method('delete')->willThrowException(new \RuntimeException('cause'));
        $lock = new Lock(new Key('r'), $store, autoRelease: false);

        $this->assertThrows(
            LockReleasingException::class,
            'Failed to release the "r" lock.',
            static fn () => $lock->synchronized(static fn (): string => 'done'),
        );
    }

    public function testTheCallbacksExceptionGoesBeforeAFailedRelease(): void
    {
        $store = $this->createMock(PersistingStoreInterface::class);
        $store->method('delete')->willThrowException(new \RuntimeException('cause'));
        $lock = new Lock(new Key('r'), $store, autoRelease: false);

        // As with try and finally, either is found in the chain of the one that is thrown.
        try {
            $lock->synchronized(static fn () => throw new \DomainException('mine'));
            self::fail('Nothing was thrown.');
        } catch (\Throwable $e) {
            for ($classes = []; $e !== null; $e = $e->getPrevious()) {
                $classes[] = $e::class;
            }
            self::assertContains(\DomainException::class, $classes);
        }
    }

    private function store(string $name): PersistingStoreInterface
    {
        return match ($name) {
            'flock' => new FlockStore($this->directory()),
            'memory' => new InMemoryStore(),
            'redis' => Client::store(Servers::fresh()->port),
            'PHP' => new ExpiringStore(),
        };
    }
}
