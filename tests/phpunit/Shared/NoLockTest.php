<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\BlockingSharedLockStoreInterface;
use Latch\BlockingStoreInterface;
use Latch\Key;
use Latch\Lock;
use Latch\LockFactory;
use Latch\NoLock;
use Latch\SharedLockInterface;
use Latch\Store\NullStore;
use PHPUnit\Framework\TestCase;

/**
 * NoLock and NullStore: what locks nothing.
 */
final class NoLockTest extends TestCase
{
    public function testNoLockIsAlwaysAcquired(): void
    {
        $lock = new NoLock();

        self::assertInstanceOf(SharedLockInterface::class, $lock);
        self::assertTrue($lock->isAcquired());
        self::assertTrue($lock->acquire());
        self::assertTrue($lock->acquire(true));
        self::assertTrue($lock->acquireRead());
        self::assertTrue($lock->acquireRead(true));
        $lock->refresh();
        $lock->refresh(null);
        $lock->refresh(10.0);
        $lock->release();
        self::assertTrue($lock->isAcquired());
        self::assertFalse($lock->isExpired());
        self::assertNull($lock->getRemainingLifetime());
    }

    public function testNoLockIsAPlainObject(): void
    {
        self::assertTrue(unserialize(serialize(new NoLock()))->isAcquired());
        self::assertTrue((clone new NoLock())->acquire());
    }

    public function testNullStoreTakesEverythingAndKeepsNothing(): void
    {
        $store = new NullStore();
        self::assertInstanceOf(BlockingSharedLockStoreInterface::class, $store);
        self::assertNotInstanceOf(BlockingStoreInterface::class, $store);

        foreach ([new Key('r'), new Key('r')] as $key) {
            $store->save($key);
            $store->saveRead($key);
            $store->waitAndSaveRead($key);
            $store->putOffExpiration($key, 1.0);
            self::assertFalse($store->exists($key));
            $store->delete($key);
            self::assertNull($key->getRemainingLifetime());
            self::assertSame([], $key->__serialize()['state']);
        }
    }

    public function testALockOnNullStore(): void
    {
        $a = new Lock(new Key('r'), new NullStore(), 10.0);
        $b = (new LockFactory(new NullStore()))->createLock('r');

        foreach ([$a, $b] as $lock) {
            self::assertTrue($lock->acquire());
            self::assertTrue($lock->acquire(true));
            self::assertTrue($lock->acquireRead());
            self::assertTrue($lock->acquireRead(true));
            self::assertFalse($lock->isAcquired());
            $lock->refresh(5.0);
            self::assertNull($lock->getRemainingLifetime());
            $lock->release();
        }
    }
}
