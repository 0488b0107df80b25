<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Exception\InvalidArgumentException;
use Latch\Exception\LockConflictedException;
use Latch\Exception\LockExpiredException;
use Latch\Exception\UnserializableKeyException;
use Latch\Key;
use Latch\Lock;
use Latch\LockFactory;
use Latch\PersistingStoreInterface;
use Latch\Store\CombinedStore;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Latch\Strategy\ConsensusStrategy;
use Latch\Strategy\StrategyInterface;
use Latch\Strategy\UnanimousStrategy;
use Latch\Tests\Support\ExpiringStore;
use Latch\Tests\Support\RecordingLogger;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * What a lock in several stores promises, on stores that need no server, of Latch and written in PHP.
 */
final class CombinedStoreTest extends TestCase
{
    /**
     * @return iterable<string, array{\Closure(): PersistingStoreInterface}>
     */
    public static function kinds(): iterable
    {
        yield 'in memory' => [static fn () => new InMemoryStore()];
        yield 'in PHP' => [static fn () => new ExpiringStore()];
    }

    #[DataProvider('kinds')]
    public function testItHoldsWhereMostDo(\Closure $make): void
    {
        $stores = [$make(), $make(), $make()];
        $store = new CombinedStore($stores, new ConsensusStrategy());
        $ours = new Key('r');
        $stores[1]->save($others = new Key('r'));

        $store->save($ours);
        self::assertTrue($store->exists($ours));
        self::assertSame([true, false, true], array_map(static fn ($member) => $member->exists($ours), $stores));
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->save($others));

        // It goes when most have lost it.
        $stores[0]->delete($ours);
        self::assertFalse($store->exists($ours));
    }

    #[DataProvider('kinds')]
    public function testWhatWasNotGotIsGivenBack(\Closure $make): void
    {
        $stores = [$make(), $make(), $make()];
        $stores[1]->save($others = new Key('r'));
        $ours = new Key('r');

        foreach ([new UnanimousStrategy(), $this->strategy(3)] as $strategy) {
            $store = new CombinedStore($stores, $strategy);
            $this->assertThrows(LockConflictedException::class, '', static fn () => $store->save($ours));
            self::assertFalse($store->exists($ours));
            foreach ([0, 2] as $free) {
                $stores[$free]->save($somebody = new Key('r'));
                $stores[$free]->delete($somebody);
            }
        }
        self::assertTrue($stores[1]->exists($others));
    }

    #[DataProvider('kinds')]
    public function testALockInIt(\Closure $make): void
    {
        $stores = [$make(), $make(), $make()];
        $factory = new LockFactory(new CombinedStore($stores, new ConsensusStrategy()));
        $lock = $factory->createLock('r', 100.0);
        $other = $factory->createLock('r', 100.0);

        self::assertTrue($lock->acquire());
        self::assertTrue($lock->isAcquired());
        self::assertFalse($other->acquire());
        $lock->refresh(200.0);
        $lock->release();
        self::assertFalse($lock->isAcquired());
        self::assertTrue($other->acquire(true));
        unset($other);
        self::assertTrue($lock->acquire());
        unset($lock);
        foreach ($stores as $store) {
            $store->save(new Key('r'));
        }
    }

    public function testReadersShareIt(): void
    {
        $store = new CombinedStore(
            [new InMemoryStore(), new InMemoryStore(), new FlockStore($this->directory())],
            new UnanimousStrategy(),
        );
        $one = new Lock(new Key('r'), $store);
        $two = new Lock(new Key('r'), $store);

        self::assertTrue($one->acquireRead());
        self::assertTrue($two->acquireRead());
        self::assertTrue($one->isAcquired());
        $two->release();
        self::assertTrue($one->acquire());
        self::assertFalse($two->acquireRead());
    }

    public function testAStoreThatKnowsNoReadersIsLockedForOne(): void
    {
        $plain = new ExpiringStore();
        $store = new CombinedStore([new InMemoryStore(), $plain], new UnanimousStrategy());
        $store->saveRead($key = new Key('r'));

        self::assertTrue($plain->exists($key));
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->saveRead(new Key('r')));
    }

    public function testItsKeyCannotBeHandedOverWhereAMembersCannot(): void
    {
        $store = new CombinedStore(
            [new InMemoryStore(), new FlockStore($this->directory())],
            new UnanimousStrategy(),
        );
        $store->save($key = new Key('r'));
        $this->assertThrows(
            UnserializableKeyException::class,
            'The key cannot be serialized.',
            static fn () => serialize($key),
        );
    }

    public function testALockWhoseTimeHasPassedWhileItWasTakenIsNotHeld(): void
    {
        $stores = [new ExpiringStore(true), new ExpiringStore(true), new InMemoryStore()];
        $store = new CombinedStore($stores, new ConsensusStrategy());
        $key = new Key('r');
        $store->save($key);

        $this->assertThrows(
            LockExpiredException::class,
            'Failed to store the "r" lock.',
            static fn () => $store->putOffExpiration($key, 10.0),
        );
        foreach ($stores as $member) {
            self::assertFalse($member->exists($key));
        }
    }

    public function testARenewalForNoTimeEndsTheLock(): void
    {
        $stores = [new InMemoryStore(), new ExpiringStore()];
        $store = new CombinedStore($stores, new ConsensusStrategy());
        $store->setLogger($logger = new RecordingLogger());
        $store->save($key = new Key('r'));

        $this->assertThrows(
            LockExpiredException::class,
            'Failed to store the "r" lock.',
            static fn () => $store->putOffExpiration($key, 0.0),
        );
        self::assertFalse($store->exists($key));
        self::assertSame(
            [['debug', 'Stores took to long to put off the expiration of the "{resource}" lock.',
                ['resource' => $key, 'store' => $stores[0], 'ttl' => 0.0]]],
            $logger->records,
        );
    }

    public function testARenewalForLessThanItTakesEndsTheLock(): void
    {
        $store = new CombinedStore([new InMemoryStore(), new ExpiringStore()], new ConsensusStrategy());
        $store->save($key = new Key('r'));

        $this->assertThrows(
            LockExpiredException::class,
            'Failed to store the "r" lock.',
            static fn () => $store->putOffExpiration($key, 0.000_000_1),
        );
        self::assertFalse($store->exists($key));
    }

    public function testMembersInPhpShareTheTimeOfARenewal(): void
    {
        $given = [];
        $members = [];
        foreach ([0, 1, 2] as $number) {
            $members[] = $member = $this->createStub(PersistingStoreInterface::class);
            $member->method('putOffExpiration')->willReturnCallback(
                static function (Key $key, float $ttl) use (&$given, $number): void {
                    $given[$number] = $ttl;
                    for ($end = hrtime(true) + 20_000_000; hrtime(true) < $end; usleep(1000));
                },
            );
        }
        $store = new CombinedStore($members, new UnanimousStrategy());
        $store->setLogger($logger = new RecordingLogger());
        $store->putOffExpiration($key = new Key('r'), 10.0);

        self::assertLessThanOrEqual(10.0, $given[0]);
        self::assertLessThanOrEqual($given[0] - 0.019, $given[1]);
        self::assertLessThanOrEqual($given[1] - 0.019, $given[2]);
        self::assertSame([], $logger->records);

        // Whoever would get nothing of it is not asked.
        $given = [];
        $this->assertThrows(
            LockExpiredException::class,
            'Failed to store the "r" lock.',
            static fn () => $store->putOffExpiration($key, 0.01),
        );
        self::assertSame([0], array_keys($given));
        self::assertTrue($key->isExpired());
        self::assertSame(
            [['debug', 'Stores took to long to put off the expiration of the "{resource}" lock.',
                ['resource' => $key, 'store' => $members[1], 'ttl' => 0.01]]],
            $logger->records,
        );
    }

    public function testWhatItLogs(): void
    {
        $taken = new InMemoryStore();
        $taken->save($others = new Key('r'));
        $store = new CombinedStore([$taken, new InMemoryStore()], new ConsensusStrategy());
        $store->setLogger($logger = new RecordingLogger());
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->save($key = new Key('r')));

        self::assertCount(2, $logger->records);
        [[$level, $message, $context], $last] = $logger->records;
        self::assertSame(['debug', 'One store failed to save the "{resource}" lock.'], [$level, $message]);
        self::assertSame(['resource', 'store', 'exception'], array_keys($context));
        self::assertSame($taken, $context['store']);
        self::assertInstanceOf(LockConflictedException::class, $context['exception']);
        self::assertSame('info', $last[0]);
        self::assertSame('Failed to store the "{resource}" lock. Quorum has not been met.', $last[1]);
        self::assertSame(['resource', 'success', 'failure'], array_keys($last[2]));
        self::assertSame([0, 1], [$last[2]['success'], $last[2]['failure']]);
        self::assertTrue($taken->exists($others));
    }

    public function testAUsersStrategyIsAskedInSymfonysOrder(): void
    {
        $strategy = $this->strategy(2);
        $store = new CombinedStore([new InMemoryStore(), new ExpiringStore(), new InMemoryStore()], $strategy);
        $store->save($key = new Key('r'));
        self::assertSame(['can 0/3', 'can 0/3', 'can 0/3', 'met 3/3'], $strategy->asked);

        $strategy->asked = [];
        self::assertTrue($store->exists($key));
        self::assertSame(['met 1/3', 'can 0/3', 'met 2/3'], $strategy->asked);
    }

    public function testASubclassIsCalledByItsMethods(): void
    {
        $store = new class ([new InMemoryStore()], new UnanimousStrategy()) extends CombinedStore {
            /** @var list<string> */
            public array $calls = [];

            public function save(Key $key): void
            {
                $this->calls[] = 'save';
                $this->logger?->debug('mine');
                parent::save($key);
            }
        };
        $store->setLogger($logger = new RecordingLogger());
        $lock = new Lock(new Key('r'), $store);

        self::assertTrue($lock->acquire());
        self::assertSame(['save'], $store->calls);
        self::assertSame([['debug', 'mine', []]], $logger->records);
        self::assertFalse((new Lock(new Key('r'), $store))->acquire());
    }

    public function testACombinedStoreIsAMember(): void
    {
        $members = [new InMemoryStore(), new InMemoryStore(), new InMemoryStore(), new InMemoryStore()];
        $store = new CombinedStore([
            new CombinedStore(\array_slice($members, 0, 3), new ConsensusStrategy()),
            $members[3],
        ], new UnanimousStrategy());
        $members[0]->save($others = new Key('r'));
        $lock = new Lock($key = new Key('r'), $store, 100.0);

        self::assertTrue($lock->acquire());
        self::assertTrue($members[2]->exists($key));
        $members[2]->delete($key);
        self::assertFalse($lock->isAcquired());
        self::assertFalse((new Lock(new Key('r'), $store))->acquire());
        self::assertTrue($members[0]->exists($others));
    }

    public function testTheSameStoreCountsAsOftenAsItIsNamed(): void
    {
        $twice = new InMemoryStore();
        $store = new CombinedStore([$twice, $twice, new InMemoryStore()], new ConsensusStrategy());
        $store->save($key = new Key('r'));
        self::assertTrue($store->exists($key));
        $twice->delete($key);
        self::assertFalse($store->exists($key));
        $twice->save(new Key('r'));
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->save(new Key('r')));
    }

    public function testOneKeyInTwoOfThem(): void
    {
        $members = [new InMemoryStore(), new InMemoryStore()];
        $one = new CombinedStore($members, new UnanimousStrategy());
        $two = new CombinedStore(array_reverse($members), new ConsensusStrategy());
        $key = new Key('r');

        $one->save($key);
        self::assertTrue($two->exists($key));
        $two->save($key);
        $two->delete($key);
        self::assertFalse($one->exists($key));
        unset($one);
        gc_collect_cycles();
        $two->save($key);
        self::assertTrue($members[0]->exists($key));
    }

    /**
     * @return iterable<string, array{mixed, string}>
     */
    public static function strangers(): iterable
    {
        yield 'a text' => ['redis', 'string'];
        yield 'nothing' => [null, 'null'];
        yield 'a number' => [1.5, 'float'];
        yield 'an object' => [new \ArrayObject(), 'ArrayObject'];
        yield 'one without a name' => [new class () {
        }, 'class@anonymous'];
    }

    #[DataProvider('strangers')]
    public function testItTakesStoresAlone(mixed $stranger, string $type): void
    {
        $this->assertThrows(
            InvalidArgumentException::class,
            sprintf('The store must implement "%s". Got "%s".', Subject::name('PersistingStoreInterface'), $type),
            static fn () => new CombinedStore([new InMemoryStore(), $stranger], new ConsensusStrategy()),
        );
    }

    public function testWhatItIsMadeOfCanBeRead(): void
    {
        $stores = ['a' => new InMemoryStore(), 'b' => new ExpiringStore()];
        $store = new CombinedStore($stores, $strategy = new ConsensusStrategy());
        $store->setLogger($logger = new RecordingLogger());
        $read = static fn (string $name): mixed => (new \ReflectionProperty(CombinedStore::class, $name))
            ->getValue($store);

        self::assertSame($stores, $read('stores'));
        self::assertSame($strategy, $read('strategy'));
        self::assertSame($logger, $read('logger'));
        foreach (['stores' => 'isPrivate', 'strategy' => 'isPrivate', 'logger' => 'isProtected'] as $name => $is) {
            self::assertTrue((new \ReflectionProperty(CombinedStore::class, $name))->$is(), $name);
        }
    }

    public function testStrategies(): void
    {
        $consensus = new ConsensusStrategy();
        $unanimous = new UnanimousStrategy();
        foreach ([0, 1, 2, 3, 4, 5, 6] as $items) {
            foreach (range(0, $items) as $number) {
                self::assertSame($number > $items / 2, $consensus->isMet($number, $items), "$number of $items");
                self::assertSame($number < $items / 2, $consensus->canBeMet($number, $items), "$number of $items");
                self::assertSame($number === $items, $unanimous->isMet($number, $items), "$number of $items");
                self::assertSame($number === 0, $unanimous->canBeMet($number, $items), "$number of $items");
            }
        }
    }

    /**
     * One of the user's, which wants so many successes.
     */
    private function strategy(int $wanted): StrategyInterface
    {
        return new class ($wanted) implements StrategyInterface {
            /** @var list<string> */
            public array $asked = [];

            public function __construct(private readonly int $wanted)
            {
            }

            public function isMet(int $numberOfSuccess, int $numberOfItems): bool
            {
                $this->asked[] = "met $numberOfSuccess/$numberOfItems";

                return $numberOfSuccess >= $this->wanted;
            }

            public function canBeMet(int $numberOfFailure, int $numberOfItems): bool
            {
                $this->asked[] = "can $numberOfFailure/$numberOfItems";

                return $numberOfItems - $numberOfFailure >= $this->wanted;
            }
        };
    }
}
