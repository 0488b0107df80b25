<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Key;
use Latch\Lock;
use Latch\LockFactory;
use Latch\NoLock;
use Latch\SharedLockInterface;
use Latch\Store\InMemoryStore;
use Latch\Tests\Support\ExpiringStore;
use Latch\Tests\Support\RecordingLogger;
use Latch\Tests\Support\TestCase;

final class LockFactoryTest extends TestCase
{
    public function testItMakesLocksOnItsStore(): void
    {
        $factory = new LockFactory(new InMemoryStore());
        $a = $factory->createLock('r');
        $b = $factory->createLock('r');

        self::assertInstanceOf(Lock::class, $a);
        self::assertNotSame($a, $b);
        self::assertTrue($a->acquire());
        self::assertFalse($b->acquire());
        self::assertTrue($factory->createLock('s')->acquire());
    }

    public function testItsLocksLiveForFiveMinutesUnlessToldOtherwise(): void
    {
        $factory = new LockFactory(new ExpiringStore());
        foreach (
            [
                [300.0, $factory->createLock('a')],
                [300.0, $factory->createLockFromKey(new Key('b'))],
                [20.0, $factory->createLock('c', 20.0)],
                [20.0, $factory->createLockFromKey(new Key('d'), ttl: 20.0)],
                [null, $factory->createLock('e', null)],
                [null, $factory->createLock('f', 0.0)],
            ] as [$ttl, $lock]
        ) {
            $lock->acquire();
            $ttl === null
                ? self::assertNull($lock->getRemainingLifetime())
                : self::assertEqualsWithDelta($ttl, $lock->getRemainingLifetime(), 5.0);
        }
    }

    public function testItsLocksAreReleasedAutomaticallyUnlessToldOtherwise(): void
    {
        $store = new InMemoryStore();
        $factory = new LockFactory($store);
        $keys = [new Key('a'), new Key('b'), new Key('c')];

        $factory->createLockFromKey($keys[0])->acquire();
        $factory->createLockFromKey($keys[1], autoRelease: true)->acquire();
        $factory->createLockFromKey($keys[2], 300.0, false)->acquire();
        self::assertFalse($store->exists($keys[0]));
        self::assertFalse($store->exists($keys[1]));
        self::assertTrue($store->exists($keys[2]));

        $factory->createLock('d', autoRelease: false)->acquire();
        self::assertFalse($factory->createLock('d')->acquire());
    }

    public function testItsLoggerGoesToTheLocksMadeAfterwards(): void
    {
        $logger = new RecordingLogger();
        $factory = new LockFactory(new InMemoryStore());
        $before = $factory->createLock('before');
        $factory->setLogger($logger);
        $after = $factory->createLock('after', null);

        $before->acquire();
        self::assertSame([], $logger->records);
        $after->acquire();
        self::assertSame('Successfully acquired the "{resource}" lock.', $logger->records[0][1]);
        self::assertSame('after', (string) $logger->records[0][2]['resource']);
    }

    public function testASubclassDecidesWhatALockIs(): void
    {
        $factory = new class (new InMemoryStore()) extends LockFactory {
            /** @var list<array{Key, ?float, bool}> */
            public array $calls = [];

            public function createLockFromKey(
                Key $key,
                ?float $ttl = 300.0,
                bool $autoRelease = true,
            ): SharedLockInterface {
                $this->calls[] = [$key, $ttl, $autoRelease];

                return (string) $key === 'none' ? new NoLock() : parent::createLockFromKey($key, $ttl, $autoRelease);
            }
        };

        self::assertInstanceOf(NoLock::class, $factory->createLock('none'));
        self::assertInstanceOf(Lock::class, $factory->createLock('some', 20.0, false));
        self::assertSame([['none', 300.0, true], ['some', 20.0, false]], array_map(
            static fn (array $call): array => [(string) $call[0], $call[1], $call[2]],
            $factory->calls,
        ));
    }

    public function testASubclassMayHaveItsOwnConstructor(): void
    {
        $factory = new class ('name') extends LockFactory {
            public function __construct(public readonly string $name)
            {
                parent::__construct(new InMemoryStore());
            }
        };

        self::assertSame('name', $factory->name);
        self::assertTrue($factory->createLock('r')->acquire());
    }

    public function testASubclassThatForgetsTheConstructorGetsAnError(): void
    {
        $factory = new class () extends LockFactory {
            public function __construct()
            {
            }
        };

        $this->assertThrows(\Error::class, null, static fn () => $factory->createLock('r'));
    }

    public function testItNeedsAStore(): void
    {
        $e = $this->assertThrows(\TypeError::class, null, static fn () => new LockFactory(new \ArrayObject()));

        self::assertStringContainsString('($store)', $e->getMessage());
    }
}
