<?php

declare(strict_types=1);

namespace Latch\Tests\Additions;

use Latch\Exception\LockConflictedException;
use Latch\Key;
use Latch\Lock;
use Latch\PersistingStoreInterface;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Latch\Tests\Support\ExpiringStore;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\Redis\Servers;
use Latch\Tests\Support\TestCase;
use Latch\Tests\Support\Wait;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * isHeld(): whether the lock is held for certain, without asking anybody.
 */
final class IsHeldTest extends TestCase
{
    /**
     * @return iterable<string, array{string, string}>
     */
    public static function storesAndMethods(): iterable
    {
        foreach (['flock', 'memory', 'redis', 'PHP'] as $store) {
            foreach (['acquire', 'acquireRead'] as $method) {
                yield "$store, $method" => [$store, $method];
            }
        }
    }

    #[DataProvider('storesAndMethods')]
    public function testItFollowsTheLock(string $store, string $method): void
    {
        $store = $this->store($store);
        $lock = new Lock(new Key('r'), $store, 100.0);
        self::assertFalse($lock->isHeld());

        $lock->$method();
        self::assertTrue($lock->isHeld());
        $lock->refresh();
        self::assertTrue($lock->isHeld());
        $lock->acquire();
        self::assertTrue($lock->isHeld());
        $lock->acquireRead();
        self::assertTrue($lock->isHeld());

        $lock->release();
        self::assertFalse($lock->isHeld());
    }

    public function testAConflictIsNotHolding(): void
    {
        foreach (['flock', 'memory', 'redis', 'PHP'] as $name) {
            $store = $this->store($name);
            $holder = new Lock(new Key('r'), $store);
            $holder->acquire();
            $lock = new Lock(new Key('r'), $store);

            self::assertFalse($lock->acquire());
            self::assertFalse($lock->isHeld(), $name);
            self::assertTrue($holder->isHeld(), $name);
        }
    }

    public function testItEndsWithTheLease(): void
    {
        $lock = new Lock(new Key('r'), new ExpiringStore(), 0.2);
        $start = hrtime(true);
        $lock->acquire();
        Wait::until(static fn (): bool => !$lock->isHeld(), 'the lease ends');

        // Not later than anybody else could hold it: counted from before the lock was sent for.
        self::assertLessThan(0.2 + 2.0, (hrtime(true) - $start) / 1e9);
        self::assertFalse($lock->isHeld());
        $lock->acquire();
        self::assertTrue($lock->isHeld());
    }

    public function testItNeverOutlastsTheStoresOwnOpinion(): void
    {
        $lock = new Lock(new Key('r'), new ExpiringStore(), 0.05);
        $lock->acquire();
        do {
            // In this order: what is held after it was expired would be a lie.
            $expired = $lock->isExpired();
            $held = $lock->isHeld();
        } while (!$expired);
        self::assertFalse($held);
    }

    public function testItAsksNobody(): void
    {
        $store = $this->createMock(PersistingStoreInterface::class);
        $store->expects(self::once())->method('save');
        $store->expects(self::never())->method('exists');
        $lock = new Lock(new Key('r'), $store, autoRelease: false);

        self::assertFalse($lock->isHeld());
        $lock->acquire();
        self::assertTrue($lock->isHeld());
        self::assertTrue($lock->isHeld());
    }

    public function testALockThatWasLostIsNotHeld(): void
    {
        $store = new ExpiringStore();
        $key = new Key('r');
        $lock = new Lock($key, $store, 100.0);
        $lock->acquire();
        $store->delete($key);

        self::assertFalse($lock->isAcquired());
        self::assertFalse($lock->isHeld(), 'The store has just said so.');
    }

    public function testARefreshThatConflictsEndsIt(): void
    {
        $store = new ExpiringStore();
        $key = new Key('r');
        $lock = new Lock($key, $store, 100.0);
        $lock->acquire();
        $store->delete($key);
        $this->assertThrows(LockConflictedException::class, null, static fn () => $lock->refresh());

        self::assertFalse($lock->isHeld());
    }

    #[DataProvider('storesAndMethods')]
    public function testASecondLockOnTheKeyHoldsItToo(string $store, string $method): void
    {
        $store = $this->store($store);
        $key = new Key('r');
        $a = new Lock($key, $store);
        $b = new Lock($key, $store);
        $a->$method();
        self::assertTrue($a->isHeld());

        $b->release();
        self::assertFalse($b->isHeld());
        self::assertFalse($a->isAcquired());
        self::assertFalse($a->isHeld());
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
