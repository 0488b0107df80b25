<?php

declare(strict_types=1);

namespace Latch\Tests\Additions;

use Latch\Exception\InvalidArgumentException;
use Latch\Exception\InvalidTtlException;
use Latch\Key;
use Latch\Lock;
use Latch\LockFactory;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Latch\Store\NullStore;
use Latch\Tests\Support\ExpiringStore;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * A time to live that cannot be meant is refused where it is given, by the name of its parameter.
 */
final class TtlTest extends TestCase
{
    /**
     * @return iterable<string, array{float}>
     */
    public static function wrong(): iterable
    {
        yield 'negative' => [-1.0];
        yield 'a little negative' => [-\PHP_FLOAT_MIN];
        yield 'not a number' => [\NAN];
        yield 'infinite' => [\INF];
        yield 'minus infinity' => [-\INF];
    }

    #[DataProvider('wrong')]
    public function testALockRefusesIt(float $ttl): void
    {
        $this->assertRefused(static fn () => new Lock(new Key('r'), new InMemoryStore(), $ttl));
        $this->assertRefused(static fn () => new Lock(new Key('r'), new ExpiringStore(), ttl: $ttl));
    }

    #[DataProvider('wrong')]
    public function testAFactoryRefusesIt(float $ttl): void
    {
        $factory = new LockFactory(new InMemoryStore());

        $this->assertRefused(static fn () => $factory->createLock('r', $ttl));
        $this->assertRefused(static fn () => $factory->createLockFromKey(new Key('r'), $ttl));
    }

    #[DataProvider('wrong')]
    public function testARefreshRefusesItAndChangesNothing(float $ttl): void
    {
        foreach ([new InMemoryStore(), new FlockStore($this->directory()), new ExpiringStore()] as $store) {
            $lock = new Lock(new Key('r'), $store, 100.0);
            $lock->acquire();
            $left = $lock->getRemainingLifetime();

            $this->assertRefused(static fn () => $lock->refresh($ttl));
            self::assertTrue($lock->isAcquired());
            self::assertEqualsWithDelta($left, $lock->getRemainingLifetime(), 10.0);
        }
    }

    #[DataProvider('wrong')]
    public function testTheStoresRefuseIt(float $ttl): void
    {
        foreach ([new InMemoryStore(), new FlockStore($this->directory()), new NullStore()] as $store) {
            $store->save($key = new Key('r'));

            $this->assertRefused(static fn () => $store->putOffExpiration($key, $ttl));
            $store->putOffExpiration($key, 1.0);
        }
    }

    #[TestWith([null])]
    #[TestWith([0.0])]
    #[TestWith([-0.0])]
    public function testNoneIsNone(?float $ttl): void
    {
        $lock = new Lock(new Key('r'), new ExpiringStore(), $ttl);

        self::assertTrue($lock->acquire());
        self::assertNull($lock->getRemainingLifetime());
        self::assertTrue($lock->isHeld());
    }

    #[TestWith([\PHP_FLOAT_MIN])]
    #[TestWith([1e-9])]
    #[TestWith([1e9])]
    #[TestWith([1e18])]
    #[TestWith([\PHP_FLOAT_MAX])]
    public function testAnyOtherNumberIsTaken(float $ttl): void
    {
        foreach ([new InMemoryStore(), new FlockStore($this->directory())] as $store) {
            $lock = new Lock(new Key('r'), $store, $ttl);
            self::assertTrue($lock->acquire());
            $lock->refresh($ttl);
            $store->putOffExpiration(new Key('other'), $ttl);
            self::assertTrue($lock->isAcquired());
            self::assertTrue($lock->isHeld());
        }
    }

    private function assertRefused(\Closure $code): void
    {
        $e = $this->assertThrows(InvalidTtlException::class, null, $code);
        self::assertInstanceOf(InvalidArgumentException::class, $e);
        self::assertStringContainsString('$ttl', $e->getMessage());
    }
}
