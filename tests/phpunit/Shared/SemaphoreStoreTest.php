<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\BlockingStoreInterface;
use Latch\Exception\LockConflictedException;
use Latch\Exception\UnserializableKeyException;
use Latch\Key;
use Latch\Lock;
use Latch\SharedLockStoreInterface;
use Latch\Store\SemaphoreStore;
use Latch\Tests\Support\Booking;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Semaphores;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Semaphores are the whole machine's: every test has a resource of its own.
 */
final class SemaphoreStoreTest extends TestCase
{
    private string $resource;

    protected function setUp(): void
    {
        $this->resource = 'latch test ' . bin2hex(random_bytes(8));
    }

    protected function tearDown(): void
    {
        self::assertFalse(Semaphores::exists(Semaphores::key($this->resource)), 'A set was left behind.');
        parent::tearDown();
    }

    public function testItIsSymfonysKindOfStore(): void
    {
        $store = new SemaphoreStore();

        self::assertInstanceOf(BlockingStoreInterface::class, $store);
        self::assertNotInstanceOf(SharedLockStoreInterface::class, $store);
        self::assertSame(\extension_loaded('sysvsem'), SemaphoreStore::isSupported());
    }

    public function testAKeyIsStoredUntilItIsDeleted(): void
    {
        $store = new SemaphoreStore();
        $key = new Key($this->resource);
        self::assertFalse($store->exists($key));

        $store->save($key);
        self::assertTrue($store->exists($key));
        $store->save($key);
        self::assertTrue($store->exists($key));
        self::assertFalse($store->exists(new Key($this->resource)));
        self::assertTrue(Semaphores::exists(Semaphores::key($this->resource)));

        $store->putOffExpiration($key, 1.0);
        self::assertNull($key->getRemainingLifetime());

        $store->delete($key);
        self::assertFalse($store->exists($key));
        $store->delete($key);
        $store->delete(new Key('never stored'));
    }

    public function testAConflictIsAnExceptionWithoutWords(): void
    {
        $store = new SemaphoreStore();
        $store->save($holder = new Key($this->resource));
        $key = new Key($this->resource);

        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->save($key));
        self::assertFalse($store->exists($key));
        self::assertTrue($store->exists($holder));
        $store->delete($holder);
        $store->waitAndSave($key);
        self::assertTrue($store->exists($key));
        $store->delete($key);
    }

    public function testTwoStoresAreOne(): void
    {
        $a = new SemaphoreStore();
        $b = new SemaphoreStore();
        $a->save($key = new Key($this->resource));

        $this->assertThrows(LockConflictedException::class, '', fn () => $b->save(new Key($this->resource)));
        self::assertTrue($b->exists($key));
        $b->delete($key);
        self::assertFalse($a->exists($key));
    }

    public function testAKeyThatWasStoredIsNotSerialised(): void
    {
        $store = new SemaphoreStore();
        $store->save($key = new Key($this->resource));
        try {
            $this->assertThrows(
                UnserializableKeyException::class,
                'The key cannot be serialized.',
                static fn () => serialize($key),
            );
        } finally {
            $store->delete($key);
        }
    }

    public function testALockForReadingIsALockForWriting(): void
    {
        $lock = new Lock(new Key($this->resource), new SemaphoreStore());
        $other = new Lock(new Key($this->resource), new SemaphoreStore());

        self::assertTrue($lock->acquireRead());
        self::assertFalse($other->acquireRead());
        $lock->release();
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer}>
     */
    public static function peers(): iterable
    {
        yield 'our own kind' => [Peer::own(...)];
        yield 'Symfony 7.4' => [Peer::symfony(...)];
    }

    #[DataProvider('peers')]
    public function testTheyExcludeEachOther(\Closure $start): void
    {
        $peer = $start($this->directory());
        $peer->do('semaphore', 'theirs', $this->resource);
        $ours = new Lock(new Key($this->resource), new SemaphoreStore());

        self::assertTrue($ours->acquire());
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        $ours->release();
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        self::assertFalse($ours->acquire());
        $peer->do('call', 'theirs', 'release');
        self::assertTrue($ours->acquire());
        $ours->release();
    }

    #[DataProvider('peers')]
    public function testWhoWaitsIsLetIn(\Closure $start): void
    {
        $peer = $start($this->directory());
        $peer->do('semaphore', 'theirs', $this->resource);
        $ours = new Lock(new Key($this->resource), new SemaphoreStore());

        $ours->acquire();
        $peer->ask('call', 'theirs', 'acquire', true);
        Semaphores::untilQueued($peer->pid());
        $ours->release();
        self::assertTrue($peer->answer());
        self::assertFalse($ours->acquire());

        $peer->ask('release when it waits for a semaphore', 'theirs', getmypid());
        self::assertTrue($ours->acquire(true));
        $peer->answer();
        $ours->release();
    }

    #[DataProvider('peers')]
    public function testAKilledHolderHoldsNothing(\Closure $start): void
    {
        $peer = $start($this->directory());
        $peer->do('semaphore', 'theirs', $this->resource);
        $peer->do('call', 'theirs', 'acquire');
        $ours = new Lock(new Key($this->resource), new SemaphoreStore());
        self::assertFalse($ours->acquire());

        $peer->kill();
        self::assertTrue($ours->acquire());
        $ours->release();
    }

    public function testNothingIsLostAmongManyOfEveryKind(): void
    {
        $ledger = $this->directory() . '/ledger';
        $peers = [];
        foreach (self::peers() as [$start]) {
            array_push($peers, $start($this->directory()), $start($this->directory()));
        }
        foreach ($peers as $peer) {
            $peer->do('semaphore', 'theirs', $this->resource);
        }
        foreach ($peers as $peer) {
            $peer->ask('book', 'theirs', $ledger, 200);
        }
        foreach ($peers as $peer) {
            self::assertSame(200, $peer->answer(60.0));
        }

        self::assertSame(4 * 200, (new Booking($ledger))->balance());
    }
}
