<?php

declare(strict_types=1);

namespace Latch\Tests\Additions;

use Latch\Exception\InvalidArgumentException;
use Latch\Exception\LockAcquiringException;
use Latch\Exception\LockConflictedException;
use Latch\Key;
use Latch\Lock;
use Latch\PersistingStoreInterface;
use Latch\SharedLockStoreInterface;
use Latch\Store\CombinedStore;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Latch\Strategy\ConsensusStrategy;
use Latch\Strategy\StrategyInterface;
use Latch\Strategy\UnanimousStrategy;
use Latch\Tests\Support\ExpiringStore;
use Latch\Tests\Support\RecordingLogger;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * What a combined store does beyond Symfony's: it leaves nothing behind, whatever ends a call.
 */
final class CombinedStoreTest extends TestCase
{
    /**
     * @return iterable<string, array{\Throwable}>
     */
    public static function throwables(): iterable
    {
        yield 'an exception' => [new \RuntimeException('thrown')];
        yield 'an error' => [new \Error('thrown')];
    }

    public function testAnErrorOfAMemberGoesOnAndNothingStaysTaken(): void
    {
        $stores = [new InMemoryStore(), new ExpiringStore(), $this->failing(new \Error('thrown')), new InMemoryStore()];
        foreach ([new ConsensusStrategy(), new UnanimousStrategy(), $this->strategy(null)] as $strategy) {
            $store = new CombinedStore($stores, $strategy);
            $store->setLogger($logger = new RecordingLogger());
            $this->assertThrows(\Error::class, 'thrown', static fn () => $store->save(new Key('r')));
            $this->assertThrows(\Error::class, 'thrown', static fn () => (new Lock(new Key('r'), $store))->acquire());
            $this->assertAllFree([$stores[0], $stores[1], $stores[3]]);
            self::assertSame([], $logger->records);
        }
    }

    #[DataProvider('throwables')]
    public function testWhatAStrategyThrowsGoesOnAndNothingStaysTaken(\Throwable $thrown): void
    {
        foreach ([new InMemoryStore(), new ExpiringStore()] as $last) {
            $stores = [new InMemoryStore(), new InMemoryStore(), $last];
            foreach (['isMet', 'canBeMet'] as $method) {
                $store = new CombinedStore($stores, $this->strategy($thrown, $method));
                $this->assertThrows($thrown::class, 'thrown', static fn () => $store->save(new Key('r')));
                $this->assertAllFree($stores);
            }
            // A question takes nothing, and gives nothing back.
            $store = new CombinedStore($stores, $this->strategy($thrown));
            $stores[0]->save($key = new Key('r'));
            $this->assertThrows($thrown::class, 'thrown', static fn () => $store->exists($key));
            self::assertTrue($stores[0]->exists($key));
            $stores[0]->delete($key);
        }
    }

    #[DataProvider('throwables')]
    public function testWhatALoggerThrowsGoesOnAndNothingStaysTaken(\Throwable $thrown): void
    {
        $taken = new InMemoryStore();
        $taken->save($others = new Key('r'));
        foreach ([new InMemoryStore(), new ExpiringStore()] as $last) {
            $store = new CombinedStore([$taken, new InMemoryStore(), $last], new ConsensusStrategy());
            $store->setLogger($logger = new RecordingLogger());
            $logger->listener = static fn () => throw $thrown;
            $this->assertThrows($thrown::class, 'thrown', static fn () => $store->save(new Key('r')));
            $lock = new Lock(new Key('r'), $store, 100.0);
            $this->assertThrows(
                $thrown instanceof \Exception ? LockAcquiringException::class : \Error::class,
                null,
                static fn () => $lock->acquire(),
            );
            $logger->listener = null;
            self::assertTrue((new Lock(new Key('r'), $store))->acquire());
            self::assertTrue($taken->exists($others));
        }
    }

    public function testALoggerMayUseTheStore(): void
    {
        $taken = new InMemoryStore();
        $taken->save($others = new Key('r'));
        $store = new CombinedStore([$taken, new InMemoryStore(), new InMemoryStore()], new ConsensusStrategy());
        $store->setLogger($logger = new RecordingLogger());
        $key = new Key('r');
        $depth = 0;
        $logger->listener = static function () use ($store, $key, &$depth): void {
            if ($depth++ < 5) {
                $store->exists($key);
                $store->save($key);
            }
            $store->setLogger(new RecordingLogger());
        };
        $store->save($key);

        self::assertTrue($store->exists($key));
        self::assertTrue($taken->exists($others));
    }

    public function testAMemberMayUseTheStoreThatAsksIt(): void
    {
        $taken = new InMemoryStore();
        $taken->save($others = new Key('r'));
        $member = $this->createStub(PersistingStoreInterface::class);
        $store = null;
        $answers = [];
        $member->method('save')->willReturnCallback(static function (Key $key) use (&$store, &$answers): void {
            $answers[] = $store->exists($key);
            try {
                $store->save($key);
            } catch (LockAcquiringException $e) {
                $answers[] = $e->getMessage();
            }
            throw new \RuntimeException('no');
        });
        $store = new CombinedStore([$taken, $member, new InMemoryStore()], new ConsensusStrategy());
        $store->setLogger($logger = new RecordingLogger());
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->save(new Key('r')));

        self::assertSame(
            [false, 'Failed to store the "r" lock: another operation on this lock has not ended yet.'],
            $answers,
        );
        self::assertSame(
            ['One store failed to save the "{resource}" lock.', 'no', 2],
            [
                $logger->records[0][1],
                $logger->records[1][2]['exception']->getMessage(),
                $logger->records[2][2]['failure'],
            ],
        );
        self::assertCount(3, $logger->records);
        self::assertTrue($taken->exists($others));
    }

    public function testAPromotionThatFailsKeepsTheSharedLock(): void
    {
        $stores = [new InMemoryStore(), new InMemoryStore(), new InMemoryStore()];
        $store = new CombinedStore($stores, new ConsensusStrategy());
        $ours = new Lock(new Key('r'), $store);
        $others = new Lock(new Key('r'), $store);
        self::assertTrue($ours->acquireRead());
        self::assertTrue($others->acquireRead());

        self::assertFalse($ours->acquire());
        self::assertTrue($ours->isAcquired());
        self::assertTrue($others->isAcquired());
        $others->release();
        self::assertTrue($ours->acquire());
    }

    public function testItIsHeldWhileMostMembersHoldIt(): void
    {
        $stores = [new InMemoryStore(), new InMemoryStore(), new InMemoryStore()];
        $lock = new Lock($key = new Key('r'), new CombinedStore($stores, new ConsensusStrategy()));
        self::assertFalse($lock->isHeld());
        $lock->acquire();
        self::assertTrue($lock->isHeld());
        $stores[0]->delete($key);
        self::assertTrue($lock->isHeld());
        $stores[2]->delete($key);
        self::assertFalse($lock->isHeld());
    }

    public function testALockOutlivesItsStoreObject(): void
    {
        $stores = [new InMemoryStore(), new ExpiringStore(), new InMemoryStore()];
        $key = new Key('r');
        (new CombinedStore($stores, new UnanimousStrategy()))->save($key);
        gc_collect_cycles();

        self::assertTrue((new CombinedStore($stores, new UnanimousStrategy()))->exists($key));
        $stores[0]->delete($key);
        self::assertFalse((new CombinedStore($stores, new UnanimousStrategy()))->exists($key));
    }

    public function testAStateThatIsSetByHandIsTheTruth(): void
    {
        $stores = [new InMemoryStore(), new ExpiringStore()];
        $store = new CombinedStore($stores, new UnanimousStrategy());
        $store->save($key = new Key('r'));
        $key->setState('own', 'mine');
        self::assertTrue($store->exists($key));
    }

    public function testAMemberMaySetTheKeysState(): void
    {
        $member = new class () implements PersistingStoreInterface {
            public function save(Key $key): void
            {
                $key->setState(self::class, 'mine');
                $key->removeState('other');
            }

            public function putOffExpiration(Key $key, float $ttl): void
            {
                $key->setState(self::class, 'mine still');
            }

            public function exists(Key $key): bool
            {
                return $key->hasState(self::class);
            }

            public function delete(Key $key): void
            {
                $key->removeState(self::class);
            }
        };
        $store = new CombinedStore([new InMemoryStore(), $member], new UnanimousStrategy());
        $lock = new Lock($key = new Key('r'), $store, 100.0);

        self::assertTrue($lock->acquire());
        self::assertSame('mine still', $key->getState($member::class));
        self::assertTrue($lock->isAcquired());
        $lock->release();
        self::assertFalse($key->hasState($member::class));
    }

    public function testThereAreBounds(): void
    {
        $stores = array_map(static fn () => new InMemoryStore(), range(1, 64));
        $store = new CombinedStore($stores, new UnanimousStrategy());
        $store->save($key = new Key('r'));
        self::assertTrue($store->exists($key));

        $this->assertThrows(
            InvalidArgumentException::class,
            null,
            static fn () => new CombinedStore([...$stores, new ExpiringStore()], new UnanimousStrategy()),
        );
        $this->assertThrows(
            InvalidArgumentException::class,
            null,
            static fn () => new CombinedStore([$store, new InMemoryStore()], new UnanimousStrategy()),
        );
    }

    public function testItIsConstructedOnce(): void
    {
        $store = new CombinedStore([new InMemoryStore()], new UnanimousStrategy());
        $this->expectException(\Error::class);
        $this->expectExceptionMessage('is constructed already');
        $store->__construct([], new ConsensusStrategy());
    }

    public function testItsMembersAreConstructed(): void
    {
        $member = new class () extends FlockStore {
            public function __construct()
            {
            }
        };
        $this->expectException(\Error::class);
        $this->expectExceptionMessage('::__construct() was not called');
        new CombinedStore([new InMemoryStore(), new ExpiringStore(), $member], new ConsensusStrategy());
    }

    public function testItUsesTheStoresThatItWasMadeOf(): void
    {
        $first = new InMemoryStore();
        $stores = [&$first];
        $store = new CombinedStore($stores, new UnanimousStrategy());
        $kept = $first;
        $first = null;
        $store->save($key = new Key('r'));
        self::assertTrue($kept->exists($key));
    }

    /**
     * @param list<PersistingStoreInterface> $stores
     */
    private function assertAllFree(array $stores): void
    {
        foreach ($stores as $store) {
            $store->save($key = new Key('r'));
            $store->delete($key);
        }
        self::assertNotSame([], $stores);
    }

    private function failing(\Throwable $thrown): SharedLockStoreInterface
    {
        return new class ($thrown) implements SharedLockStoreInterface {
            public function __construct(private readonly \Throwable $thrown)
            {
            }

            public function save(Key $key): void
            {
                throw $this->thrown;
            }

            public function saveRead(Key $key): void
            {
                throw $this->thrown;
            }

            public function putOffExpiration(Key $key, float $ttl): void
            {
            }

            public function exists(Key $key): bool
            {
                return false;
            }

            public function delete(Key $key): void
            {
            }
        };
    }

    private function strategy(?\Throwable $thrown, string $method = 'isMet'): StrategyInterface
    {
        return new class ($thrown, $method) implements StrategyInterface {
            public function __construct(private readonly ?\Throwable $thrown, private readonly string $method)
            {
            }

            public function isMet(int $numberOfSuccess, int $numberOfItems): bool
            {
                if ($this->thrown !== null && $this->method === 'isMet') {
                    throw $this->thrown;
                }

                return true;
            }

            public function canBeMet(int $numberOfFailure, int $numberOfItems): bool
            {
                if ($this->thrown !== null && $this->method === 'canBeMet') {
                    throw $this->thrown;
                }

                return true;
            }
        };
    }
}
