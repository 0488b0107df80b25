<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyNames;

use Latch\Store\RedisStore as OurRedisStore;
use Latch\Tests\RedisServer;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\TestWith;
use Psr\Log\LoggerAwareInterface;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;
use Symfony\Component\Lock\Store\CombinedStore;
use Symfony\Component\Lock\Store\RedisStore;
use Symfony\Component\Lock\Strategy\ConsensusStrategy;
use Symfony\Component\Lock\Strategy\UnanimousStrategy;

/**
 * An application's combined store goes on with Symfony's own stores of client objects, beside Latch's.
 */
final class CombinedStoreTest extends TestCase
{
    #[TestWith([[0, 1, 2]])]
    #[TestWith([[0, 2]])]
    #[TestWith([[1]])]
    #[TestWith([[]])]
    public function testSymfonysStoresAndLatchsHaveOneLock(array $ours): void
    {
        $servers = [new RedisServer(), new RedisServer(), new RedisServer()];
        $ports = array_map(static fn (RedisServer $server): int => $server->port, $servers);
        $stores = array_map(static fn (int $number) => \in_array($number, $ours, true)
            ? new OurRedisStore("redis://127.0.0.1:{$ports[$number]}")
            : new RedisStore(Client::connect($ports[$number])), [0, 1, 2]);
        $store = new CombinedStore($stores, new UnanimousStrategy());
        $peer = Peer::symfony($this->directory());
        $peer->do('combined', 'theirs', 'r', $ports, 100.0);
        $lock = new Lock($key = new Key('r'), $store, 100.0);

        self::assertTrue($lock->acquire());
        $tokens = array_map(static fn (RedisServer $server): mixed => $server->command('ZRANGE', 'r', 0, -1), $servers);
        self::assertSame([$tokens[0], $tokens[0]], [$tokens[1], $tokens[2]]);
        self::assertContains($key->getState(RedisStore::class), $tokens[0]);
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        self::assertTrue($lock->isAcquired());
        $lock->refresh(200.0);
        self::assertEqualsWithDelta(200.0, $lock->getRemainingLifetime(), 10.0);

        $peer->do('take combined over', 'ours', base64_encode(serialize($key)), $ports, 300.0);
        self::assertTrue($peer->do('call', 'ours', 'isAcquired'));
        $peer->do('call', 'ours', 'release');
        self::assertFalse($lock->isAcquired());
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        self::assertFalse($lock->acquire());
        $peer->do('call', 'theirs', 'release');
        self::assertTrue($lock->acquireRead());
        self::assertTrue($peer->do('call', 'theirs', 'acquireRead'));
    }

    public function testWithoutStoresTheStrategyDecides(): void
    {
        $unanimous = new CombinedStore([], new UnanimousStrategy());
        $unanimous->save($key = new Key('r'));
        self::assertFalse($unanimous->exists($key));
        $consensus = new CombinedStore([], new ConsensusStrategy());
        $this->assertThrows(LockConflictedException::class, '', static fn () => $consensus->save($key));
    }

    public function testItTakesALogger(): void
    {
        self::assertInstanceOf(LoggerAwareInterface::class, new CombinedStore([], new ConsensusStrategy()));
    }
}
