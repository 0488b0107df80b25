<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Exception\LockConflictedException;
use Latch\Key;
use Latch\Store\InMemoryStore;
use Latch\Tests\Support\TestCase;

final class InMemoryStoreTest extends TestCase
{
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
