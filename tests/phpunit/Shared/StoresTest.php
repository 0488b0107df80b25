<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\BlockingStoreInterface;
use Latch\Exception\LockConflictedException;
use Latch\Exception\UnserializableKeyException;
use Latch\Key;
use Latch\PersistingStoreInterface;
use Latch\SharedLockStoreInterface;
use Latch\Store\SemaphoreStore;
use Latch\Tests\Support\StoreFixture;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProviderExternal;

/**
 * What each store promises to PHP code, by one fixture each. What only one store promises stands in its own test.
 */
final class StoresTest extends TestCase
{
    private string $resource;

    protected function setUp(): void
    {
        $this->resource = 'latch test ' . bin2hex(random_bytes(8)); // semaphores are the whole machine's
    }

    #[DataProviderExternal(StoreFixture::class, 'all')]
    public function testItIsSymfonysKindOfStore(StoreFixture $fixture): void
    {
        $store = $this->open($fixture);

        self::assertSame($fixture->can(StoreFixture::BLOCKING), $store instanceof BlockingStoreInterface);
        self::assertSame($fixture->can(StoreFixture::SHARED), $store instanceof SharedLockStoreInterface);
    }

    #[DataProviderExternal(StoreFixture::class, 'all')]
    public function testAKeyIsStoredUntilItIsDeleted(StoreFixture $fixture): void
    {
        $store = $this->open($fixture);
        $key = $this->key();
        self::assertFalse($store->exists($key));

        $store->save($key);
        if ($fixture->can(StoreFixture::REENTRANT)) {
            $store->save($key);
        }
        self::assertTrue($store->exists($key));
        self::assertFalse($store->exists($this->key()));
        $store->putOffExpiration($key, 10.0);
        self::assertSame($fixture->can(StoreFixture::EXPIRING), $key->getRemainingLifetime() !== null);

        $store->delete($key);
        self::assertFalse($store->exists($key));
        $store->delete($key);
        $store->delete(new Key('never stored'));
        $store->save($next = $this->key());
        $store->delete($next);
    }

    #[DataProviderExternal(StoreFixture::class, 'all')]
    public function testAConflictIsAnExceptionWithoutWords(StoreFixture $fixture): void
    {
        $store = $this->open($fixture);
        $store->save($holder = $this->key());

        foreach ($fixture->can(StoreFixture::SHARED) ? ['save', 'saveRead'] : ['save'] as $method) {
            $key = $this->key();
            $e = $this->assertThrows(LockConflictedException::class, '', static fn () => $store->$method($key));
            self::assertSame(0, $e->getCode());
            self::assertFalse($store->exists($key));
            self::assertSame($this->resource, (string) unserialize(serialize($key)));
        }
        $stranger = $this->key();
        if ($fixture->can(StoreFixture::RENEWING)) {
            $this->assertThrows(
                LockConflictedException::class,
                '',
                static fn () => $store->putOffExpiration($stranger, 10.0),
            );
        }
        $store->delete($stranger);
        self::assertTrue($store->exists($holder));
        $store->delete($holder);
    }

    #[DataProviderExternal(StoreFixture::class, 'all')]
    public function testTwoStoresOnOnePlaceAreOne(StoreFixture $fixture): void
    {
        if (!$fixture->can(StoreFixture::COMMON)) {
            $this->expectNotToPerformAssertions();

            return;
        }
        $a = $this->open($fixture);
        $b = $this->open($fixture);
        $a->save($key = $this->key());

        $this->assertThrows(LockConflictedException::class, '', fn () => $b->save($this->key()));
        self::assertTrue($b->exists($key));
        $b->delete($key);
        self::assertFalse($a->exists($key));
    }

    #[DataProviderExternal(StoreFixture::class, 'all')]
    public function testReadersShareAndAreWritersInTurn(StoreFixture $fixture): void
    {
        $store = $this->open($fixture);
        if (!$store instanceof SharedLockStoreInterface) {
            self::assertFalse($fixture->can(StoreFixture::SHARED));

            return;
        }
        $a = $this->key();
        $b = $this->key();
        $conflict = fn (string $method, Key $key) => $this->assertThrows(
            LockConflictedException::class,
            '',
            static fn () => $store->$method($key),
        );
        $store->saveRead($a);
        $store->saveRead($b);
        $conflict('save', $this->key());
        if (!$fixture->can(StoreFixture::LOSING)) {
            $conflict('save', $a); // not alone
        }
        self::assertTrue($store->exists($a));
        self::assertTrue($store->exists($b));

        $store->delete($b);
        $store->save($a); // promoted
        $conflict('saveRead', $b);

        $store->saveRead($a); // demoted
        $store->saveRead($b);
        self::assertTrue($store->exists($a));
        $store->delete($a);
        self::assertTrue($store->exists($b));
        $conflict('save', $a);
        $store->delete($b);
    }

    #[DataProviderExternal(StoreFixture::class, 'all')]
    public function testAStoredKeyIsHandedOverOrCannotBe(StoreFixture $fixture): void
    {
        $store = $this->open($fixture);
        $store->save($key = $this->key());
        if (!$fixture->can(StoreFixture::SERIALIZABLE)) {
            $this->assertThrows(
                UnserializableKeyException::class,
                'The key cannot be serialized.',
                static fn () => serialize($key),
            );
            $store->delete($key);

            return;
        }
        $copy = unserialize(serialize($key));
        self::assertInstanceOf(Key::class, $copy);
        unset($key); // the lock outlives it

        $this->assertThrows(LockConflictedException::class, '', fn () => $store->save($this->key()));
        self::assertTrue($store->exists($copy));
        $store->save($copy);
        $store->delete($copy);
        $store->save($this->key());
    }

    #[DataProviderExternal(StoreFixture::class, 'all')]
    public function testOddResourcesDoNotConflict(StoreFixture $fixture): void
    {
        $store = $this->open($fixture);
        $keys = [];
        foreach (['', '0', '00', "0\0", ' 0', "\0", "\r\n", '%s%b', 'Ü', "\xff", str_repeat('x', 1 << 20), 'r', 'R'] as $odd) {
            $store->save($keys[] = new Key($this->resource . $odd));
        }
        foreach ($store instanceof SemaphoreStore ? [] : Subject::emptyResource() as $empty) {
            $store->save($keys[] = new Key($empty));
        }
        foreach ($keys as $key) {
            self::assertTrue($store->exists($key));
        }
        foreach ($keys as $key) {
            $store->delete($key);
            self::assertFalse($store->exists($key));
        }
    }

    private function open(StoreFixture $fixture): PersistingStoreInterface
    {
        return ($fixture->open)($this->directory());
    }

    private function key(): Key
    {
        return new Key($this->resource);
    }
}
