<?php

declare(strict_types=1);

namespace Latch\Tests\Additions;

use Latch\Exception\InvalidTtlException;
use Latch\Exception\LockAcquiringException;
use Latch\Exception\LockReleasingException;
use Latch\Exception\LockStorageException;
use Latch\Key;
use Latch\Lock;
use Latch\LockFactory;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Latch\Store\NullStore;
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;
use Latch\Tests\Support\ExpiringStore;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\Redis\Servers;
use Latch\Tests\Support\TestCase;
use Latch\Tests\Support\Wait;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * RedisStore: what Symfony's does worse or has not; what is expected of both is in Shared.
 */
final class RedisStoreTest extends TestCase
{
    private RedisServer $server;

    protected function setUp(): void
    {
        $this->server = Servers::fresh();
    }

    #[TestWith(['acquire', null])]
    #[TestWith(['acquire', 100.0])]
    #[TestWith(['acquireRead', null])]
    #[TestWith(['acquireRead', 100.0])]
    public function testAWaitMayBeLongerThanTheInitialTtl(string $method, ?float $ttl): void
    {
        $peer = Peer::symfony($this->directory());
        $peer->do('redis', 'theirs', 'r', $this->server->port, null);
        $peer->do('call', 'theirs', 'acquire');
        $lock = new Lock(new Key('r'), Client::store($this->server->port, 1.0), $ttl);
        Client::askToReleaseWhenAsked($peer, 'theirs', $this->server->port, 1.1);

        self::assertTrue($lock->$method(true));
        [$left, $isHeld] = [$lock->getRemainingLifetime(), $lock->isHeld()]; // at once: it may be short
        self::assertEqualsWithDelta($ttl ?? 1.0, $left, 0.9);
        self::assertTrue($isHeld);
        self::assertNull($peer->answer());
    }

    public function testALockTakesOneRoundTripAndItsReleaseAnother(): void
    {
        $lock = (new LockFactory(Client::store($this->server->port)))->createLock('r', 20.0);
        $steps = [
            'acquire' => fn () => $lock->acquire(),
            'renew' => fn () => $lock->acquire(),
            'refresh' => fn () => $lock->refresh(),
            'demote' => fn () => $lock->acquireRead(),
            'promote' => fn () => $lock->acquire(),
            'ask' => fn () => $lock->isAcquired(),
            'release' => fn () => $lock->release(),
            'wait' => fn () => $lock->acquire(true),
        ];
        // The first time, the server has to be told the scripts.
        array_map(static fn (\Closure $step) => $step(), $steps);
        $lock->release();

        foreach ($steps as $name => $step) {
            self::assertSame(1, $this->roundTripsOf($step), $name);
        }
    }

    public function testAReleaseThatNobodyWaitsForFreesTheLockThoughTheServerHasForgottenTheScript(): void
    {
        $lock = new Lock(new Key('r'), Client::store($this->server->port), 20.0);
        $lock->acquire();
        $lock->release(); // from now on the server is known to have the script
        $lock->acquire();
        $evalsha = $this->server->count('evalsha');
        $eval = $this->server->count('eval');
        $this->server->command('SCRIPT', 'FLUSH');
        unset($lock);

        Wait::until(fn (): bool => $this->server->command('EXISTS', 'r') === 0, 'the lock is released');
        self::assertSame($evalsha + 1, $this->server->count('evalsha'));
        self::assertSame($eval + 1, $this->server->count('eval'));
    }

    #[TestWith([null, 300.0])]
    #[TestWith([20.0, 20.0])]
    public function testARefusedPromotionLeavesTheLifetimeOfTheSharedLock(?float $ttl, float $lifetime): void
    {
        $reader = new Lock(new Key('r'), Client::store($this->server->port));
        $reader->acquireRead();
        $lock = new Lock(new Key('r'), Client::store($this->server->port), $ttl);
        $lock->acquireRead();

        self::assertFalse($lock->acquire());
        self::assertTrue($lock->isHeld());
        self::assertNotNull($lock->getRemainingLifetime());
        self::assertEqualsWithDelta($lifetime, $lock->getRemainingLifetime(), 10.0);
    }

    public function testThePrefixIsBeforeAllKeys(): void
    {
        $store = new RedisStore($this->server->dsn('?prefix=app:'));
        $lock = new Lock(new Key('r'), $store);
        $lock->acquire();
        self::assertFalse((new Lock(new Key('r'), new RedisStore($this->server->dsn('?prefix=app:'))))->acquire());
        self::assertFalse((new Lock(new Key('app:r'), Client::store($this->server->port)))->acquire());
        self::assertTrue((new Lock(new Key('r'), Client::store($this->server->port)))->acquire());

        $lock->refresh(20.0);
        $lock->acquireRead();
        $lock->acquire();
        $keys = $this->server->command('KEYS', 'app:*');
        self::assertIsArray($keys);
        self::assertContains('app:r', $keys);
        $lock->release();
        self::assertSame(0, $this->server->command('EXISTS', 'app:r'));
        self::assertSame([], preg_grep('/^(app:|latch:)/', (array) $this->server->command('KEYS', '*'), \PREG_GREP_INVERT));
    }

    public function testEachDatabaseHasItsOwnLocks(): void
    {
        $lock = new Lock(new Key('r'), new RedisStore($this->server->dsn('/3')));
        self::assertTrue($lock->acquire());
        self::assertTrue((new Lock(new Key('r'), new RedisStore($this->server->dsn())))->acquire());
        self::assertFalse((new Lock(new Key('r'), new RedisStore($this->server->dsn('/3'))))->acquire());
        $this->server->command('SELECT', 3);
        try {
            self::assertSame('zset', $this->server->command('TYPE', 'r'));
        } finally {
            $this->server->command('SELECT', 0);
        }
    }

    public function testASocketIsAServerToo(): void
    {
        $lock = new Lock(new Key('r'), new RedisStore("redis://{$this->server->directory}/redis.sock"));
        self::assertTrue($lock->acquire());
        self::assertFalse((new Lock(new Key('r'), Client::store($this->server->port)))->acquire());
        $other = new RedisStore("valkey://{$this->server->directory}/redis.sock");
        self::assertFalse((new Lock(new Key('r'), $other))->acquire());
        unset($lock);
        self::assertTrue((new Lock(new Key('r'), $other))->acquire(true));
    }

    #[TestWith([0.0])]
    #[TestWith([-1.0])]
    #[TestWith([\NAN])]
    #[TestWith([\INF])]
    #[TestWith([-\INF])]
    public function testAnInitialTtlThatCannotBeMeantIsRefused(float $ttl): void
    {
        $this->assertThrows(InvalidTtlException::class, null, fn () => Client::store($this->server->port, $ttl));
    }

    #[TestWith([\PHP_FLOAT_MIN])]
    #[TestWith([1e-9])]
    #[TestWith([0.0004])]
    public function testALockOfNoTimeAtAllIsNotLeftBehind(float $ttl): void
    {
        $key = new Key('r');
        $lock = new Lock($key, Client::store($this->server->port), $ttl);
        try {
            $lock->acquire();
        } catch (LockAcquiringException) {
        }
        self::assertTrue((new Lock(new Key('r'), Client::store($this->server->port)))->acquire(true, 1.0));
        self::assertFalse($lock->isHeld());
        self::assertFalse($lock->isAcquired());
    }

    #[TestWith([1e9])]
    #[TestWith([1e15])]
    #[TestWith([1e18])]
    #[TestWith([\PHP_FLOAT_MAX])]
    public function testALockForEverIsTaken(float $ttl): void
    {
        $lock = new Lock(new Key('r'), Client::store($this->server->port), $ttl);
        self::assertTrue($lock->acquire());
        self::assertTrue($lock->isHeld());
        self::assertGreaterThan(86_400_000, $this->server->command('PTTL', 'r'));
        self::assertFalse((new Lock(new Key('r'), Client::store($this->server->port)))->acquire());
        $lock->refresh($ttl);
        self::assertTrue($lock->isAcquired());
        $lock->release();
        self::assertSame(0, $this->server->command('EXISTS', 'r'));
    }

    public function testAServerThatIsGoneIsAnErrorOfTheStore(): void
    {
        $store = Client::store($this->server->port);
        $lock = new Lock(new Key('r'), $store, 100.0);
        self::assertTrue($lock->acquire());
        $this->server->stop();

        $other = new Lock(new Key('r'), $store, 100.0);
        foreach (
            [
                [LockAcquiringException::class, 'Failed to acquire the "r" lock', fn () => $other->acquire()],
                [LockAcquiringException::class, 'Failed to acquire the "r" lock', fn () => $other->acquire(true)],
                [LockReleasingException::class, 'Failed to release the "r" lock', fn () => $lock->release()],
            ] as [$class, $message, $step]
        ) {
            $previous = $this->assertThrowsWithReason($class, $message, $step)->getPrevious();
            self::assertInstanceOf(LockStorageException::class, $previous);
        }

        $this->server->start();
        self::assertTrue($other->acquire());
        self::assertFalse($lock->acquire());
        self::assertFalse($lock->isHeld());
    }

    public function testAFencingTokenIsGreaterThanAnyBefore(): void
    {
        $tokens = [];
        foreach (['r', 's', 'r', 'r', 's'] as $resource) {
            $lock = new Lock(new Key($resource), Client::store($this->server->port), 100.0);
            $lock->acquire();
            $tokens[] = $lock->getFencingToken();
            // It is the hold's, for as long as that lasts.
            $lock->refresh();
            $lock->acquire();
            self::assertSame(end($tokens), $lock->getFencingToken());
            $lock->release();
            // Whatever became of the server's memory.
            $this->server->command(...(\count($tokens) === 2 ? ['FLUSHALL'] : ['PING']));
        }

        $this->assertIncreasing($tokens);
    }

    public function testReadersHaveNoFencingToken(): void
    {
        $lock = new Lock(new Key('r'), Client::store($this->server->port));
        self::assertNull($lock->getFencingToken());
        $lock->acquireRead();
        self::assertNull($lock->getFencingToken());
        $lock->acquire();
        $first = $lock->getFencingToken();
        self::assertIsInt($first);
        $lock->acquireRead();
        self::assertNull($lock->getFencingToken());
        $lock->acquire();
        self::assertGreaterThan($first, $lock->getFencingToken());
    }

    public function testOtherStoresHaveNone(): void
    {
        $stores = [new FlockStore($this->directory()), new InMemoryStore(), new NullStore(), new ExpiringStore()];
        foreach ($stores as $store) {
            $lock = new Lock(new Key('r'), $store);
            $lock->acquire();
            self::assertNull($lock->getFencingToken(), $store::class);
        }
    }

    public function testFencingTokensOfManyProcessesAreInTheOrderOfTheirHolds(): void
    {
        $file = $this->directory() . '/tokens';
        $peers = [];
        for ($i = 0; $i < 4; ++$i) {
            $peers[] = $peer = Peer::own($this->directory());
            $peer->do('redis', 'theirs', 'r', $this->server->port, $i % 2 === 0 ? null : 20.0);
            $peer->ask('append tokens', 'theirs', $file, 100);
        }
        // Holders who know nothing of fencing are among them.
        $symfony = Peer::symfony($this->directory());
        $symfony->do('redis', 'theirs', 'r', $this->server->port, null);
        $symfony->ask('book', 'theirs', $this->directory() . '/ledger', 20);
        foreach ([...$peers, $symfony] as $peer) {
            $peer->answer(60.0);
        }

        $tokens = array_map(intval(...), (array) file($file, \FILE_IGNORE_NEW_LINES));
        self::assertCount(400, $tokens);
        $this->assertIncreasing($tokens);
    }

    /**
     * @param list<int|null> $tokens
     */
    private function assertIncreasing(array $tokens): void
    {
        $last = 0;
        foreach ($tokens as $at => $token) {
            self::assertIsInt($token);
            self::assertGreaterThan($last, $token, "token $at");
            $last = $token;
        }
    }

    /** How many times the server has heard something while this was done. */
    private function roundTripsOf(\Closure $step): int
    {
        $before = (int) $this->server->info('stats')['total_reads_processed'];
        $step();

        // The last one is the question for the number.
        return (int) $this->server->info('stats')['total_reads_processed'] - $before - 1;
    }
}
