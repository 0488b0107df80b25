<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\BlockingStoreInterface;
use Latch\Exception\LockConflictedException;
use Latch\Key;
use Latch\Lock;
use Latch\LockFactory;
use Latch\SharedLockInterface;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Latch\Tests\Support\Subject;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * Programs that use the classes can be tested with PHPUnit's doubles of them.
 */
final class MocksTest extends TestCase
{
    /**
     * @return iterable<string, array{class-string}>
     */
    public static function doubled(): iterable
    {
        foreach (Subject::CLASSES as $class) {
            $name = Subject::name($class);
            if (!(new \ReflectionClass($name))->isFinal() && !is_a($name, \Throwable::class, true)) {
                yield $class => [$name];
            }
        }
    }

    /**
     * @param class-string $class
     */
    #[DataProvider('doubled')]
    public function testADoubleCanBeMade(string $class): void
    {
        self::assertInstanceOf($class, $this->createStub($class));
        self::assertInstanceOf($class, $this->createMock($class));
        self::assertInstanceOf($class, $this->getMockBuilder($class)->disableOriginalConstructor()->getMock());
    }

    public function testADoubleOfALock(): void
    {
        $lock = $this->createMock(SharedLockInterface::class);
        $lock->expects(self::once())->method('acquire')->with(true)->willReturn(true);
        $lock->expects(self::once())->method('refresh')->with(5.0);
        $lock->method('getRemainingLifetime')->willReturn(2.5);

        self::assertTrue($lock->acquire(true));
        $lock->refresh(5.0);
        self::assertSame(2.5, $lock->getRemainingLifetime());
    }

    public function testALockUsesADoubleOfAStore(): void
    {
        $key = new Key('r');
        $store = $this->createMock(BlockingStoreInterface::class);
        $store->expects(self::once())->method('waitAndSave')->with(self::identicalTo($key));
        $store->expects(self::once())->method('putOffExpiration')->with(self::identicalTo($key), 10.0);
        $store->expects(self::once())->method('delete')->with(self::identicalTo($key));
        $store->expects(self::never())->method('save');
        $store->expects(self::exactly(2))->method('exists')->willReturn(true, false);

        $lock = new Lock($key, $store, 10.0);
        self::assertTrue($lock->acquire(true));
        self::assertTrue($lock->isAcquired());
        $lock->release();
    }

    public function testALockUsesADoubleOfANativeStore(): void
    {
        foreach ([FlockStore::class, InMemoryStore::class] as $class) {
            $store = $this->createMock($class);
            $store->expects(self::once())->method('save')->willThrowException(new LockConflictedException());
            $store->expects(self::once())->method('saveRead');

            $lock = new Lock(new Key('r'), $store, null, false);
            self::assertFalse($lock->acquire());
            self::assertTrue($lock->acquireRead());
        }
    }

    public function testADoubleOfAFactory(): void
    {
        $lock = $this->createMock(SharedLockInterface::class);
        $factory = $this->createMock(LockFactory::class);
        $factory->expects(self::once())->method('createLock')->with('r', 5.0)->willReturn($lock);

        self::assertSame($lock, $factory->createLock('r', 5.0));
    }

    public function testAFactoryWithOneMethodReplaced(): void
    {
        $lock = $this->createMock(SharedLockInterface::class);
        $factory = $this->getMockBuilder(LockFactory::class)
            ->setConstructorArgs([new InMemoryStore()])
            ->onlyMethods(['createLockFromKey'])
            ->getMock();
        $factory->expects(self::once())->method('createLockFromKey')
            ->with(self::callback(static fn (Key $key): bool => (string) $key === 'r'), 5.0, true)
            ->willReturn($lock);

        self::assertSame($lock, $factory->createLock('r', 5.0));
    }
}
