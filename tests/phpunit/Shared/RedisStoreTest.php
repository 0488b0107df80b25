<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Exception\InvalidTtlException;
use Latch\Exception\LockAcquiringException;
use Latch\Exception\LockConflictedException;
use Latch\Exception\LockReleasingException;
use Latch\Exception\LockStorageException;
use Latch\Key;
use Latch\Lock;
use Latch\SharedLockStoreInterface;
use Latch\Tests\RedisServer;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\Redis\Servers;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

final class RedisStoreTest extends TestCase
{
    private RedisServer $server;

    protected function setUp(): void
    {
        $this->server = Servers::fresh();
    }

    public function testAKeyThatWasStoredIsStoredInItsCopyToo(): void
    {
        $store = $this->store();
        $store->save($key = new Key('r'));
        $copy = unserialize(serialize($key));
        self::assertInstanceOf(Key::class, $copy);
        unset($key);

        self::assertTrue($store->exists($copy));
        self::assertEqualsWithDelta(300.0, $copy->getRemainingLifetime(), 20.0);
        $store->save($copy);
        $store->delete($copy);
        $store->save(new Key('r'));
    }

    #[TestWith(['save', true])]
    #[TestWith(['saveRead', false])]
    public function testTheLockIsLaidOutAsSymfonyDoesIt(string $method, bool $writer): void
    {
        $this->store(20.0)->$method($key = new Key('r'));
        $token = $key->getState(Client::STATE);

        self::assertMatchesRegularExpression('~^[A-Za-z0-9+/]{43}=$~', $token);
        self::assertSame('zset', $this->server->command('TYPE', 'r'));
        $score = $this->server->command('ZSCORE', 'r', $token);
        $expected = $writer ? ['__write__' => $score, $token => $score] : [$token => $score];
        self::assertEquals($expected, $this->holders('r'));
        self::assertSame($score, (string) $this->server->command('PEXPIRETIME', 'r'));
        self::assertEqualsWithDelta(20_000, $this->server->command('PTTL', 'r'), 10_000);
    }

    public function testTheLastReaderDeterminesTheEnd(): void
    {
        $long = $this->store(1000.0);
        $short = $this->store(20.0);
        $long->saveRead($a = new Key('r'));
        $short->saveRead($b = new Key('r'));
        self::assertEqualsWithDelta(1_000_000, $this->server->command('PTTL', 'r'), 10_000);

        $long->delete($a);
        self::assertEqualsWithDelta(20_000, $this->server->command('PTTL', 'r'), 10_000);
        $short->putOffExpiration($b, 500.0);
        self::assertEqualsWithDelta(500_000, $this->server->command('PTTL', 'r'), 10_000);
        $short->delete($b);
        self::assertSame(0, $this->server->command('EXISTS', 'r'));
    }

    /**
     * @return iterable<string, array{string}>
     */
    public static function resources(): iterable
    {
        yield 'ordinary' => ['invoice-42.pdf_2'];
        yield from array_map(static fn (string $resource) => [$resource], Subject::emptyResource());
        yield 'zero' => ['0'];
        yield 'blanks and braces' => ['a {b} "c" d}'];
        yield 'a conversion' => ['%s%b%n%d'];
        yield 'a NUL byte' => ["nul\0byte"];
        yield 'a line break' => ["a\r\nb"];
        yield 'UTF-8' => ['Übergröße 東京'];
        yield 'no UTF-8' => ["\xff\xfe\x80"];
        yield 'a megabyte' => [str_repeat("x\0", 1 << 19)];
    }

    #[DataProvider('resources')]
    public function testTheResourceIsTheNameOfTheLock(string $resource): void
    {
        $store = $this->store();
        $store->save($key = new Key($resource));

        self::assertSame('zset', $this->server->command('TYPE', $resource));
        self::assertTrue($store->exists($key));
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->save(new Key($resource)));
        $store->delete($key);
        self::assertSame(0, $this->server->command('EXISTS', $resource));
    }

    #[TestWith([0.0])]
    #[TestWith([-1.0])]
    public function testTheInitialTtlMustBePositive(float $ttl): void
    {
        $e = $this->assertThrows(InvalidTtlException::class, null, fn () => $this->store($ttl));
        self::assertSame(
            '"Store\RedisStore::__construct()" expects a strictly positive TTL. Got ' . (int) $ttl . '.',
            Subject::plain($e->getMessage()),
        );
    }

    public function testWithoutATtlTheStoresOwnCounts(): void
    {
        foreach ([[$this->store(), 300.0], [$this->store(40.0), 40.0]] as [$store, $expected]) {
            foreach ([null, 0.0] as $ttl) {
                $lock = new Lock(new Key('r'), $store, $ttl);
                self::assertTrue($lock->acquire());
                self::assertEqualsWithDelta($expected, $lock->getRemainingLifetime(), 10.0);
                self::assertEqualsWithDelta($expected * 1000, $this->server->command('PTTL', 'r'), 10_000);
                $lock->release();
            }
        }
    }

    public function testTheLocksTtlCounts(): void
    {
        foreach ([1000.0, 20.0] as $ttl) {
            $lock = new Lock(new Key('r'), $this->store(), $ttl);
            self::assertTrue($lock->acquire());
            self::assertEqualsWithDelta($ttl, $lock->getRemainingLifetime(), 10.0);
            self::assertEqualsWithDelta($ttl * 1000, $this->server->command('PTTL', 'r'), 10_000);
            $lock->refresh(60.0);
            self::assertEqualsWithDelta(60_000, $this->server->command('PTTL', 'r'), 10_000);
            $lock->release();
        }
    }

    public function testWhatExpiredIsNobodys(): void
    {
        $store = $this->store();
        $first = new Lock(new Key('r'), $store, 1.0);
        $second = new Lock(new Key('r'), $store, 100.0);
        self::assertTrue($first->acquire());
        /* Not by a wait, which Latch refuses: it would be for what this very thread holds. */
        for ($end = hrtime(true) + 40_000_000_000; !$second->acquire(); usleep(10_000)) {
            self::assertLessThan($end, hrtime(true));
        }
        if (Subject::mode() === 'oracle') {
            /* Its script cuts the server's clock to milliseconds: the lock ends there up to one before it does here. */
            usleep(1_000);
        }

        self::assertTrue($first->isExpired());
        self::assertFalse($first->isAcquired());
        $first->release();
        self::assertTrue($second->isAcquired());
        self::assertFalse($first->acquire());
    }

    /** The reserved member that marks a writer is nobody's token. */
    public function testTheMarkOfAWriterIsNoToken(): void
    {
        $holder = new Lock(new Key('r'), $this->store());
        $holder->acquire();
        $key = new Key('r');
        $key->setState(Client::STATE, '__write__');
        $lock = new Lock($key, $this->store());

        self::assertFalse($lock->isAcquired());
        self::assertFalse($lock->acquire());
        $lock->release();
        self::assertTrue($holder->isAcquired());
        self::assertFalse($lock->acquireRead());
        self::assertNotSame('__write__', $key->getState(Client::STATE));
    }

    /** A string is a lock of Symfony's before 5.2, or of Laravel's. */
    public function testAStringIsALockOfSomebodyElses(): void
    {
        $this->server->command('SET', 'r', 'theirs', 'PX', 100_000);
        $lock = new Lock(new Key('r'), $this->store());

        self::assertFalse($lock->acquire());
        self::assertFalse($lock->acquireRead());
        self::assertFalse($lock->isAcquired());
        $e = $this->assertThrows(LockConflictedException::class, null, static fn () => $lock->refresh(10.0));
        self::assertSame('', Subject::symfonysWords($e));
        $lock->release();
        self::assertSame('theirs', $this->server->command('GET', 'r'));
        self::assertEqualsWithDelta(100_000, $this->server->command('PTTL', 'r'), 10_000);

        $this->server->command('PEXPIRE', 'r', 100);
        self::assertTrue($lock->acquire(true));
        self::assertSame('zset', $this->server->command('TYPE', 'r'));
    }

    public function testAKeyOfAnotherTypeIsAnErrorOfTheStore(): void
    {
        $lock = new Lock(new Key('r'), $this->store(), autoRelease: false);
        $lock->acquire();
        $this->server->command('DEL', 'r');
        $this->server->command('RPUSH', 'r', 'theirs');

        foreach (['acquire', 'acquireRead'] as $method) {
            $this->assertIsTheStores(
                $this->assertThrowsWithReason(
                    LockAcquiringException::class,
                    'Failed to acquire the "r" lock',
                    static fn () => $lock->$method(),
                ),
            );
        }
        $this->assertIsTheStores(
            $this->assertThrowsWithReason(
                LockAcquiringException::class,
                'Failed to define an expiration for the "r" lock',
                static fn () => $lock->refresh(10.0),
            ),
        );
        $this->assertIsTheStores(
            $this->assertThrowsWithReason(
                LockReleasingException::class,
                'Failed to release the "r" lock',
                static fn () => $lock->release(),
            ),
        );
        self::assertSame(['theirs'], $this->server->command('LRANGE', 'r', 0, -1));

        $this->server->command('DEL', 'r');
        self::assertTrue($lock->acquire());
        self::assertTrue($lock->isAcquired());
        $lock->release();
    }

    private function assertIsTheStores(\Throwable $e): void
    {
        $previous = $e->getPrevious();
        self::assertInstanceOf(LockStorageException::class, $previous);
        self::assertStringContainsString('WRONGTYPE', $previous->getMessage());
    }

    private function store(float $initialTtl = 300.0): SharedLockStoreInterface
    {
        return Client::store($this->server->port, $initialTtl);
    }

    /**
     * @return array<string, string> the members and their scores
     */
    private function holders(string $resource): array
    {
        $flat = $this->server->command('ZRANGE', $resource, 0, -1, 'WITHSCORES');
        self::assertIsArray($flat);

        return array_column(array_chunk($flat, 2), 1, 0);
    }
}
