<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\BlockingStoreInterface;
use Latch\Exception\LockConflictedException;
use Latch\Key;
use Latch\SharedLockStoreInterface;
use Latch\Store\InMemoryStore;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;

final class InMemoryStoreTest extends TestCase
{
    public function testItIsSymfonysKindOfStore(): void
    {
        $store = new InMemoryStore();

        self::assertInstanceOf(SharedLockStoreInterface::class, $store);
        self::assertNotInstanceOf(BlockingStoreInterface::class, $store);
    }

    public function testAKeyIsStoredUntilItIsDeleted(): void
    {
        $store = new InMemoryStore();
        $key = new Key('r');
        self::assertFalse($store->exists($key));

        $store->save($key);
        $store->save($key);
        self::assertTrue($store->exists($key));
        self::assertFalse($store->exists(new Key('r')));

        $store->putOffExpiration($key, 1.0);
        self::assertNull($key->getRemainingLifetime());

        $store->delete($key);
        self::assertFalse($store->exists($key));
        $store->delete($key);
        $store->delete(new Key('never stored'));
    }

    public function testAConflictIsAnExceptionWithoutWords(): void
    {
        $store = new InMemoryStore();
        $store->save($holder = new Key('r'));

        foreach (['save', 'saveRead'] as $method) {
            $key = new Key('r');
            $this->assertThrows(LockConflictedException::class, '', static fn () => $store->$method($key));
            self::assertFalse($store->exists($key));
        }
        self::assertTrue($store->exists($holder));
    }

    public function testAnotherKeyCannotDeleteTheLock(): void
    {
        $store = new InMemoryStore();
        $store->save($holder = new Key('r'));
        $store->delete(new Key('r'));

        self::assertTrue($store->exists($holder));
    }

    public function testReadersPromotionAndDemotion(): void
    {
        $store = new InMemoryStore();
        $a = new Key('r');
        $b = new Key('r');
        $store->saveRead($a);
        $store->saveRead($b);
        $store->saveRead($b);
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->save($a));
        self::assertTrue($store->exists($a));

        $store->delete($b);
        $store->save($a);
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->saveRead($b));

        $store->saveRead($a);
        $store->saveRead($b);
        self::assertTrue($store->exists($a));
        $store->delete($a);
        self::assertTrue($store->exists($b));
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->save($a));
    }

    public function testStoresAreSeparate(): void
    {
        $a = new InMemoryStore();
        $b = new InMemoryStore();
        $key = new Key('r');
        $a->save($key);

        self::assertFalse($b->exists($key));
        $b->save(new Key('r'));
        $this->assertThrows(LockConflictedException::class, '', static fn () => $b->save($key));
        self::assertTrue($a->exists($key));
    }

    public function testTheLockBelongsToTheTokenInTheKey(): void
    {
        $store = new InMemoryStore();
        $key = new Key('r');
        $store->save($key);

        $token = $key->getState('Symfony\Component\Lock\Store\InMemoryStore');
        self::assertIsString($token);
        self::assertSame(44, \strlen($token));
        self::assertSame(32, \strlen((string) base64_decode($token, true)));

        $copy = unserialize(serialize($key));
        self::assertTrue($store->exists($copy));
        $store->delete($copy);
        self::assertFalse($store->exists($key));
    }

    public function testTheLockOutlivesItsKey(): void
    {
        $store = new InMemoryStore();
        $text = (static function () use ($store): string {
            $store->save($key = new Key('r'));

            return serialize($key);
        })();

        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->save(new Key('r')));
        $store->delete(unserialize($text));
        $store->save($key = new Key('r'));
        self::assertTrue($store->exists($key));
    }

    public function testOddResourcesDoNotConflict(): void
    {
        $store = new InMemoryStore();
        $keys = [];
        foreach (['0', '00', ...array_values(Subject::emptyResource()), "0\0", ' 0', "\0", str_repeat('x', 1 << 20), 'r', 'R'] as $resource) {
            $store->save($keys[] = new Key($resource));
        }
        foreach ($keys as $key) {
            self::assertTrue($store->exists($key));
            $store->delete($key);
            self::assertFalse($store->exists($key));
        }
    }

    public function testManyResourcesAtOnce(): void
    {
        $store = new InMemoryStore();
        $keys = [];
        for ($i = 0; $i < 5000; ++$i) {
            $store->save($keys[] = new Key("r$i"));
        }
        foreach ($keys as $i => $key) {
            if ($i % 2) {
                $store->delete($key);
            }
        }
        foreach ($keys as $i => $key) {
            self::assertSame($i % 2 === 0, $store->exists($key));
        }
    }
}
