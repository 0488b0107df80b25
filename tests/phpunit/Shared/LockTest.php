<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Exception\InvalidArgumentException;
use Latch\Exception\LockAcquiringException;
use Latch\Exception\LockConflictedException;
use Latch\Exception\LockExpiredException;
use Latch\Exception\LockReleasingException;
use Latch\Key;
use Latch\Lock;
use Latch\PersistingStoreInterface;
use Latch\SharedLockInterface;
use Latch\SharedLockStoreInterface;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Latch\Tests\Support\ExpiringStore;
use Latch\Tests\Support\RecordingLogger;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\Redis\Servers;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use Latch\Tests\Support\Wait;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * What a Lock does on the stores that Latch supplies. What it does with a store written in PHP, call by
 * call, is in CallOrderTest.
 */
final class LockTest extends TestCase
{
    /**
     * @return iterable<string, array{string}>
     */
    public static function stores(): iterable
    {
        yield from self::storesThatNeverExpire();
        yield 'RedisStore' => ['redis'];
    }

    /**
     * @return iterable<string, array{string}>
     */
    public static function storesThatNeverExpire(): iterable
    {
        yield 'FlockStore' => ['flock'];
        yield 'InMemoryStore' => ['memory'];
    }

    #[DataProvider('stores')]
    public function testALockIsHeldFromAcquireToRelease(string $store): void
    {
        $lock = new Lock(new Key('r'), $this->store($store));
        self::assertInstanceOf(SharedLockInterface::class, $lock);
        self::assertFalse($lock->isAcquired());

        self::assertTrue($lock->acquire());
        self::assertTrue($lock->isAcquired());
        self::assertFalse($lock->isExpired());

        $lock->release();
        self::assertFalse($lock->isAcquired());
    }

    #[DataProvider('stores')]
    public function testOnlyOneKeyHoldsAResource(string $store): void
    {
        $store = $this->store($store);
        $a = new Lock(new Key('r'), $store);
        $b = new Lock(new Key('r'), $store);
        $other = new Lock(new Key('s'), $store);

        self::assertTrue($a->acquire());
        self::assertFalse($b->acquire());
        self::assertFalse($b->isAcquired());
        self::assertTrue($a->isAcquired());
        self::assertTrue($other->acquire());

        $a->release();
        self::assertTrue($b->acquire());
        self::assertFalse($a->acquire());
        self::assertTrue($b->isAcquired());
    }

    #[DataProvider('stores')]
    public function testAcquiringAgainKeepsTheLock(string $store): void
    {
        $store = $this->store($store);
        $lock = new Lock(new Key('r'), $store);

        self::assertTrue($lock->acquire());
        self::assertTrue($lock->acquire());
        self::assertTrue($lock->acquire(true));

        // One release is enough: it is no counter.
        $lock->release();
        self::assertTrue((new Lock(new Key('r'), $store))->acquire());
    }

    #[DataProvider('stores')]
    public function testReleasingWhatIsNotHeldIsNoError(string $store): void
    {
        $store = $this->store($store);
        $holder = new Lock(new Key('r'), $store);
        $holder->acquire();

        $lock = new Lock(new Key('r'), $store);
        $lock->release();
        $lock->release();
        self::assertTrue($holder->isAcquired());
        self::assertFalse($lock->acquire());
    }

    #[DataProvider('stores')]
    public function testReadersShare(string $store): void
    {
        $store = $this->store($store);
        $a = new Lock(new Key('r'), $store);
        $b = new Lock(new Key('r'), $store);
        $writer = new Lock(new Key('r'), $store);

        self::assertTrue($a->acquireRead());
        self::assertTrue($b->acquireRead(true));
        self::assertFalse($writer->acquire());
        self::assertTrue($a->isAcquired());
        self::assertTrue($b->isAcquired());

        $a->release();
        self::assertFalse($writer->acquire());
        $b->release();
        self::assertTrue($writer->acquire());
        self::assertFalse($a->acquireRead());
    }

    #[DataProvider('stores')]
    public function testAReaderThatIsAloneIsPromoted(string $store): void
    {
        $store = $this->store($store);
        $lock = new Lock(new Key('r'), $store);
        $reader = new Lock(new Key('r'), $store);

        self::assertTrue($lock->acquireRead());
        self::assertTrue($lock->acquire());
        self::assertTrue($lock->isAcquired());
        self::assertFalse($reader->acquireRead());

        $lock->release();
        self::assertTrue($reader->acquireRead());
    }

    #[DataProvider('stores')]
    public function testAReaderAmongOthersIsNotPromoted(string $store): void
    {
        $store = $this->store($store);
        $lock = new Lock(new Key('r'), $store);
        $other = new Lock(new Key('r'), $store);
        $lock->acquireRead();
        $other->acquireRead();

        self::assertFalse($lock->acquire());
        self::assertTrue($other->isAcquired());
    }

    #[DataProvider('stores')]
    public function testAWriterIsDemoted(string $store): void
    {
        $store = $this->store($store);
        $lock = new Lock(new Key('r'), $store);
        $reader = new Lock(new Key('r'), $store);
        $writer = new Lock(new Key('r'), $store);

        self::assertTrue($lock->acquire());
        self::assertTrue($lock->acquireRead());
        self::assertTrue($reader->acquireRead());
        self::assertFalse($writer->acquire());
        self::assertTrue($lock->isAcquired());

        $lock->release();
        $reader->release();
        self::assertTrue($writer->acquire());
    }

    #[DataProvider('stores')]
    public function testItIsReleasedWithTheObject(string $store): void
    {
        $store = $this->store($store);
        $key = new Key('r');
        $lock = new Lock($key, $store);
        $lock->acquire();
        unset($lock);

        self::assertFalse($store->exists($key));
        self::assertTrue((new Lock(new Key('r'), $store))->acquire());
    }

    #[DataProvider('stores')]
    public function testItIsKeptWhenAskedTo(string $store): void
    {
        $store = $this->store($store);
        $key = new Key('r');
        $lock = new Lock($key, $store, autoRelease: false);
        $lock->acquire();
        unset($lock);

        self::assertTrue($store->exists($key));
        self::assertFalse((new Lock(new Key('r'), $store))->acquire());

        (new Lock($key, $store))->release();
        self::assertTrue((new Lock(new Key('r'), $store))->acquire());
    }

    /**
     * A store that remembers its keys is no reason for a cycle, and for a lock that lives on until the
     * garbage is collected.
     */
    #[TestWith([true])]
    #[TestWith([false])]
    public function testNothingOutlivesItsLastVariable(bool $released): void
    {
        $run = function () use ($released): \WeakReference {
            $store = new class ($this->directory()) extends FlockStore {
                public ?Key $saved = null;

                public function save(Key $key): void
                {
                    $this->saved = $key;
                    parent::save($key);
                }
            };
            (new Lock(new Key('r'), $store, null, $released))->acquire();

            return \WeakReference::create($store);
        };

        self::assertTrue($run()->get() === null, 'The store lives on.');
        self::assertTrue((new Lock(new Key('r'), new FlockStore($this->directory())))->acquire());
    }

    #[DataProvider('stores')]
    public function testACopySharesTheKey(string $store): void
    {
        $store = $this->store($store);
        $lock = new Lock(new Key('r'), $store);
        $lock->acquire();
        $copy = clone $lock;

        self::assertTrue($copy->isAcquired());
        $copy->release();
        self::assertFalse($lock->isAcquired());
    }

    #[DataProvider('stores')]
    public function testALockOnTheSameKeyIsTheSameLock(string $store): void
    {
        $store = $this->store($store);
        $key = new Key('r');
        $a = new Lock($key, $store);
        $b = new Lock($key, $store);

        self::assertTrue($a->acquire());
        self::assertTrue($b->acquire());
        self::assertTrue($b->isAcquired());
        unset($b);
        self::assertFalse($a->isAcquired());
    }

    #[DataProvider('storesThatNeverExpire')]
    public function testTheseStoresNeverExpire(string $store): void
    {
        $lock = new Lock(new Key('r'), $this->store($store), 0.001);

        self::assertTrue($lock->acquire());
        self::assertNull($lock->getRemainingLifetime());
        self::assertFalse($lock->isExpired());
        $lock->refresh();
        $lock->refresh(0.001);
        self::assertNull($lock->getRemainingLifetime());
        self::assertTrue($lock->isAcquired());
    }

    public function testTheRemainingLifetimeFollowsTheTtl(): void
    {
        $lock = new Lock(new Key('r'), new ExpiringStore(), 20.0);
        self::assertNull($lock->getRemainingLifetime());

        $lock->acquire();
        self::assertEqualsWithDelta(20.0, $lock->getRemainingLifetime(), 5.0);
        $lock->refresh();
        self::assertEqualsWithDelta(20.0, $lock->getRemainingLifetime(), 5.0);
        $lock->refresh(100.0);
        self::assertEqualsWithDelta(100.0, $lock->getRemainingLifetime(), 5.0);
        $lock->refresh(2.0);
        self::assertEqualsWithDelta(2.0, $lock->getRemainingLifetime(), 2.0);
        self::assertFalse($lock->isExpired());
    }

    public function testItExpires(): void
    {
        $lock = new Lock(new Key('r'), new ExpiringStore(), 0.01);
        $lock->acquire();

        Wait::until(static fn (): bool => $lock->isExpired(), 'the lock expires');
        self::assertLessThanOrEqual(0.0, $lock->getRemainingLifetime());
    }

    public function testALockThatExpiredWhileItWasTakenIsGivenBack(): void
    {
        $key = new Key('r');
        $store = new ExpiringStore(late: true);
        $lock = new Lock($key, $store, 20.0);

        $e = $this->assertThrows(
            LockAcquiringException::class,
            'Failed to acquire the "r" lock.',
            static fn () => $lock->acquire(),
        );
        $previous = $e->getPrevious();
        self::assertInstanceOf(LockAcquiringException::class, $previous);
        self::assertSame('Failed to define an expiration for the "r" lock.', $previous->getMessage());
        $first = $previous->getPrevious();
        self::assertInstanceOf(LockExpiredException::class, $first);
        self::assertSame(
            'Failed to put off the expiration of the "r" lock within the specified time.',
            $first->getMessage(),
        );
        self::assertFalse($store->exists($key));
    }

    #[TestWith([null, null])]
    #[TestWith([0.0, null])]
    #[TestWith([null, 0.0])]
    #[TestWith([10.0, 0.0])]
    public function testRefreshingNeedsADuration(?float $ttl, ?float $argument): void
    {
        $lock = new Lock(new Key('r'), new InMemoryStore(), $ttl);
        $lock->acquire();

        $this->assertThrows(
            InvalidArgumentException::class,
            'You have to define an expiration duration.',
            static fn () => $lock->refresh($argument),
        );
        self::assertTrue($lock->isAcquired());
    }

    public function testAConflictIsThrownToAWaiterAsItIs(): void
    {
        $conflict = new LockConflictedException('mine');
        $store = $this->createMock(\Latch\BlockingStoreInterface::class);
        $store->method('waitAndSave')->willThrowException($conflict);
        $lock = new Lock(new Key('r'), $store);

        $thrown = $this->assertThrows(LockConflictedException::class, 'mine', static fn () => $lock->acquire(true));
        self::assertSame($conflict, $thrown);
    }

    public function testWhatAStoreThrowsIsWrapped(): void
    {
        $cause = new \LogicException('cause');
        $store = $this->createMock(PersistingStoreInterface::class);
        foreach (['save', 'delete', 'putOffExpiration'] as $method) {
            $store->method($method)->willThrowException($cause);
        }
        $lock = new Lock(new Key('r'), $store);

        foreach (
            [
                [LockAcquiringException::class, 'Failed to acquire the "r" lock.', fn () => $lock->acquire()],
                [LockReleasingException::class, 'Failed to release the "r" lock.', fn () => $lock->release()],
                [
                    LockAcquiringException::class,
                    'Failed to define an expiration for the "r" lock.',
                    fn () => $lock->refresh(1.0),
                ],
            ] as [$class, $message, $code]
        ) {
            $e = $this->assertThrows($class, $message, $code);
            self::assertSame($cause, $e->getPrevious());
            self::assertSame(0, $e->getCode());
        }
    }

    public function testMessagesHaveTheWholeResource(): void
    {
        $resource = "a\0b \"%s\" \xff" . str_repeat('x', 300);
        $store = $this->createMock(PersistingStoreInterface::class);
        $store->method('save')->willThrowException(new \Exception());
        $store->method('exists')->willReturn(true);
        $lock = new Lock(new Key($resource), $store, autoRelease: false);

        $this->assertThrows(
            LockAcquiringException::class,
            "Failed to acquire the \"$resource\" lock.",
            static fn () => $lock->acquire(),
        );
        $this->assertThrows(
            LockReleasingException::class,
            "Failed to release the \"$resource\" lock, the resource is still locked.",
            static fn () => $lock->release(),
        );
    }

    public function testALockThatStaysAfterItsReleaseIsReported(): void
    {
        $store = $this->createMock(PersistingStoreInterface::class);
        $store->method('exists')->willReturn(true);
        $lock = new Lock(new Key('r'), $store, autoRelease: false);

        $this->assertThrows(
            LockReleasingException::class,
            'Failed to release the "r" lock, the resource is still locked.',
            static fn () => $lock->release(),
        );
    }

    public function testItCannotBeSerialised(): void
    {
        $lock = new Lock(new Key('r'), new InMemoryStore());
        $class = Subject::name('Lock');

        $this->assertThrows(
            \BadMethodCallException::class,
            "Cannot serialize $class",
            static fn () => serialize($lock),
        );
        $this->assertThrows(
            \BadMethodCallException::class,
            "Cannot unserialize $class",
            static fn () => unserialize('O:' . \strlen($class) . ':"' . $class . '":0:{}'),
        );
        $this->assertThrows(
            \BadMethodCallException::class,
            "Cannot unserialize $class",
            static fn () => $lock->__unserialize([]),
        );
    }

    public function testArgumentsMayBeNamed(): void
    {
        $lock = new Lock(store: new InMemoryStore(), key: new Key(resource: 'r'), autoRelease: true, ttl: null);

        self::assertTrue($lock->acquire(blocking: false));
        self::assertTrue($lock->acquireRead(blocking: true));
        $lock->refresh(ttl: 5.0);
        self::assertTrue($lock->isAcquired());
    }

    public function testOnlyAStoreIsTakenForAStore(): void
    {
        $e = $this->assertThrows(
            \TypeError::class,
            null,
            static fn () => new Lock(new Key('r'), new \ArrayObject()),
        );
        self::assertStringContainsString(Subject::name('PersistingStoreInterface'), $e->getMessage());
        self::assertStringContainsString('($store)', $e->getMessage());

        $e = $this->assertThrows(\TypeError::class, null, static fn () => new Lock('r', new InMemoryStore()));
        self::assertStringContainsString('($key)', $e->getMessage());
    }

    public function testWhatIsTakenAndReleasedIsLogged(): void
    {
        $key = new Key('r');
        $logger = new RecordingLogger();
        $lock = new Lock($key, new InMemoryStore(), 300.0);
        $lock->setLogger($logger);

        $lock->acquire();
        $lock->release();
        self::assertSame([
            ['debug', 'Successfully acquired the "{resource}" lock.', ['resource' => $key]],
            [
                'debug',
                'Expiration defined for "{resource}" lock for "{ttl}" seconds.',
                ['resource' => $key, 'ttl' => 300.0],
            ],
            ['debug', 'Successfully released the "{resource}" lock.', ['resource' => $key]],
        ], $logger->records);
    }

    public function testAConflictIsLogged(): void
    {
        $store = new InMemoryStore();
        $holder = new Lock(new Key('r'), $store);
        $holder->acquire();
        $key = new Key('r');
        $logger = new RecordingLogger();
        $lock = new Lock($key, $store);
        $lock->setLogger($logger);

        $lock->acquire();
        $lock->acquireRead();
        $record = [
            'info',
            'Failed to acquire the "{resource}" lock. Someone else already acquired the lock.',
            ['resource' => $key],
        ];
        self::assertSame([$record, $record], $logger->records);
    }

    public function testReadingIsLogged(): void
    {
        $key = new Key('r');
        $logger = new RecordingLogger();
        $shared = new Lock($key, new FlockStore($this->directory()));
        $shared->setLogger($logger);
        $shared->acquireRead();
        self::assertSame([
            ['debug', 'Successfully acquired the "{resource}" lock for reading.', ['resource' => $key]],
        ], $logger->records);

        $logger->records = [];
        $exclusive = new Lock($key, new ExpiringStore());
        $exclusive->setLogger($logger);
        $exclusive->acquireRead();
        self::assertSame([
            ['debug', 'Store does not support ReadLocks, fallback to WriteLock.', ['resource' => $key]],
            ['debug', 'Successfully acquired the "{resource}" lock.', ['resource' => $key]],
        ], $logger->records);
    }

    public function testOnlyALoggerIsTakenForALogger(): void
    {
        $lock = new Lock(new Key('r'), new InMemoryStore());

        $e = $this->assertThrows(\TypeError::class, null, static fn () => $lock->setLogger(new \stdClass()));
        self::assertStringContainsString('Psr\Log\LoggerInterface', $e->getMessage());
    }

    private function store(string $name): SharedLockStoreInterface
    {
        return match ($name) {
            'flock' => new FlockStore($this->directory()),
            'memory' => new InMemoryStore(),
            'redis' => Client::store(Servers::fresh()->port),
        };
    }
}
