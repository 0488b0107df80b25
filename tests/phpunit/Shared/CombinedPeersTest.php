<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Exception\LockConflictedException;
use Latch\Key;
use Latch\Lock;
use Latch\Tests\RedisServer;
use Latch\Tests\Support\Booking;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\TestCase;
use Latch\Tests\Support\Wait;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Processes exclude each other on most of three Redis servers, whatever each of them runs on: the classes
 * under test, or pure PHP Symfony; also when one of the servers is gone.
 */
final class CombinedPeersTest extends TestCase
{
    /** @var list<RedisServer> */
    private array $servers;

    protected function setUp(): void
    {
        $this->servers = [new RedisServer(), new RedisServer(), new RedisServer()];
    }

    protected function tearDown(): void
    {
        unset($this->servers);
        parent::tearDown();
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer}>
     */
    public static function peers(): iterable
    {
        yield 'our own kind' => [Peer::own(...)];
        yield 'Symfony 7.4' => [Peer::symfony(...)];
        yield 'Symfony 6.4' => [Peer::symfony6(...)];
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer, int|null}>
     */
    public static function peersAndLosses(): iterable
    {
        foreach (self::peers() as $name => [$start]) {
            yield "$name, all servers" => [$start, null];
            yield "$name, the first server gone" => [$start, 0];
            yield "$name, the last server gone" => [$start, 2];
        }
    }

    #[DataProvider('peersAndLosses')]
    public function testTheyExcludeEachOther(\Closure $start, ?int $lost): void
    {
        $peer = $this->peer($start);
        $ours = $this->lock();
        if ($lost !== null) {
            $this->servers[$lost]->stop();
        }

        self::assertTrue($ours->acquire());
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        self::assertFalse($peer->do('call', 'theirs', 'acquireRead'));
        self::assertTrue($ours->isAcquired());
        $ours->release();
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        self::assertFalse($ours->acquire());
        self::assertFalse($ours->acquireRead());
        $peer->do('call', 'theirs', 'refresh', 100.0);
        $peer->do('call', 'theirs', 'release');
        self::assertTrue($ours->acquireRead());
        self::assertTrue($peer->do('call', 'theirs', 'acquireRead'));
        self::assertTrue($ours->isAcquired());
        $peer->do('call', 'theirs', 'release');
        self::assertTrue($ours->acquire());
        $ours->refresh(100.0);
        unset($ours);
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
    }

    #[DataProvider('peers')]
    public function testNobodyHasItWithoutMostServers(\Closure $start): void
    {
        $peer = $this->peer($start);
        $ours = $this->lock();
        $this->servers[0]->stop();
        $this->servers[2]->stop();

        self::assertFalse($ours->acquire());
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        $this->servers[0]->start();
        $this->servers[2]->start();
        // phpredis does not connect anew after that.
        $peer = $this->peer($start);
        self::assertTrue($peer->do('call', 'theirs', 'acquire', true));
        self::assertFalse($this->lock()->acquire());
    }

    #[DataProvider('peers')]
    public function testOursGetsWhatTheirsReleases(\Closure $start): void
    {
        $peer = $this->peer($start);
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        // A quorum does not await its last member, and an attempt at a member where the lock is free is not counted.
        $holding = $this->until(static fn (RedisServer $server): bool => $server->command('EXISTS', 'r') === 1);
        Client::askToReleaseWhenAsked($peer, 'theirs', $holding[0]->port);
        $ours = $this->lock();

        self::assertTrue($ours->acquire(true));
        self::assertNull($peer->answer());
        self::assertTrue($ours->isAcquired());
    }

    #[DataProvider('peers')]
    public function testALockIsHandedToThem(\Closure $start): void
    {
        $peer = $this->peer($start);
        $ours = new Lock($key = new Key('r'), Client::combine($this->ports()), 100.0, false);
        $ours->acquire();
        $peer->do('take combined over', 'ours', $peer->pack($key), $this->ports(), 200.0);

        self::assertTrue($peer->do('call', 'ours', 'isAcquired'));
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        $peer->do('call', 'ours', 'refresh');
        $this->until(static fn (RedisServer $server): bool => $server->command('PTTL', 'r') > 150_000);
        self::assertTrue($ours->isAcquired());
        $peer->do('call', 'ours', 'release');
        self::assertFalse($ours->isAcquired());
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        $this->assertThrows(LockConflictedException::class, null, static fn () => $ours->refresh());
        $ours->release();
        self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
    }

    #[DataProvider('peers')]
    public function testALockIsHandedToUs(\Closure $start): void
    {
        $peer = $this->peer($start);
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        $key = $peer->unpack($peer->do('hand over', 'theirs'));
        $lock = new Lock($key, Client::combine($this->ports()), 200.0, false);

        self::assertTrue($lock->isAcquired());
        self::assertFalse($this->lock()->acquire());
        $lock->refresh();
        self::assertGreaterThan(150.0, $lock->getRemainingLifetime());
        $this->until(static fn (RedisServer $server): bool => $server->command('PTTL', 'r') > 150_000);
        self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
        $lock->release();
        self::assertFalse($peer->do('call', 'theirs', 'isAcquired'));
        $this->until(static fn (RedisServer $server): bool => $server->command('EXISTS', 'r') === 0, 3);
    }

    /** One key has one token on all servers, under Symfony's name, and each member knows the lock by it. */
    public function testAMemberKnowsTheLock(): void
    {
        $key = new Key('r');
        $lock = new Lock($key, Client::combine($this->ports()), 100.0);
        $lock->acquire();
        $token = (string) $key->getState(Client::STATE);
        $knowing = $this->until(
            static fn (RedisServer $server): bool => $server->command('ZSCORE', 'r', $token) !== null,
        );
        foreach ($knowing as $server) {
            self::assertTrue(Client::store($server->port)->exists($key));
        }
        foreach ($this->servers as $server) {
            Client::store($server->port)->delete($key);
        }
        self::assertFalse($lock->isAcquired());
    }

    public function testNothingIsLostAmongManyOfEveryKind(): void
    {
        $ledger = $this->directory() . '/ledger';
        $peers = [];
        foreach (self::peers() as [$start]) {
            array_push($peers, $this->peer($start), $this->peer($start));
        }
        foreach ($peers as $peer) {
            $peer->ask('book', 'theirs', $ledger, 10);
        }
        foreach ($peers as $peer) {
            self::assertSame(10, $peer->answer(50.0));
        }

        self::assertSame(6 * 10, (new Booking($ledger))->balance());
        $this->until(static fn (RedisServer $server): bool => $server->command('EXISTS', 'r') === 0, 3);
    }

    /**
     * Waits for what is true of most servers in the end, or of all: of the others' answers nobody waits.
     *
     * @param \Closure(RedisServer): bool $condition
     *
     * @return list<RedisServer> those of which it is
     */
    private function until(\Closure $condition, int $count = 2): array
    {
        Wait::until(fn (): bool => \count(array_filter($this->servers, $condition)) >= $count, "$count servers");

        return array_values(array_filter($this->servers, $condition));
    }

    /**
     * @return list<int>
     */
    private function ports(): array
    {
        return array_map(static fn (RedisServer $server): int => $server->port, $this->servers);
    }

    private function lock(): Lock
    {
        return new Lock(new Key('r'), Client::combine($this->ports()), 100.0);
    }

    /** A process with a lock that it calls "theirs". */
    private function peer(\Closure $start): Peer
    {
        $peer = $start($this->directory());
        $peer->do('combined', 'theirs', 'r', $this->ports(), 100.0);

        return $peer;
    }
}
