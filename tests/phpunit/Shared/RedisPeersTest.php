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
use Latch\Tests\Support\Redis\Servers;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Processes exclude each other on one Redis server, whatever each of them runs on: the classes under
 * test, or pure PHP Symfony of any release.
 */
class RedisPeersTest extends TestCase
{
    /** The server that has the lock "r". */
    protected RedisServer $server;
    /** @var int|list<int> for Client::store() */
    protected int|array $place;

    protected function setUp(): void
    {
        $this->server = Servers::fresh();
        $this->place = $this->server->port;
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer, string}>
     */
    public static function peers(): iterable
    {
        yield 'our own kind' => [Peer::own(...), 'phpredis'];
        yield 'Symfony 7.4' => [Peer::symfony(...), 'phpredis'];
        yield 'Symfony 7.4 on Predis' => [Peer::symfony(...), 'predis'];
        yield 'Symfony 6.4' => [Peer::symfony6(...), 'phpredis'];
        yield 'Symfony 5.4' => [Peer::debian(...), 'phpredis'];
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer, string, string}>
     */
    public static function peersAndResources(): iterable
    {
        $resources = [
            'ordinary' => 'r',
            ...Subject::emptyResource(),
            'odd' => "../a {b}\0c/\u{fc}",
            'long' => str_repeat('long ', 40),
        ];
        foreach (self::peers() as $name => [$start, $client]) {
            foreach ($resources as $kind => $resource) {
                yield "$name, $kind resource" => [$start, $client, $resource];
            }
        }
    }

    #[DataProvider('peersAndResources')]
    public function testTheyExcludeEachOther(\Closure $start, string $client, string $resource): void
    {
        $peer = $this->peer($start, $client, $resource);
        $ours = $this->lock($resource);

        self::assertTrue($ours->acquire());
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        self::assertFalse($peer->do('call', 'theirs', 'acquireRead'));
        $ours->release();
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        self::assertFalse($ours->acquire());
        self::assertFalse($ours->acquireRead());
        $peer->do('call', 'theirs', 'release');
        self::assertTrue($ours->acquire());
    }

    #[DataProvider('peers')]
    public function testTheyReadTogether(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client);
        $ours = $this->lock('r');

        self::assertTrue($ours->acquireRead());
        self::assertTrue($peer->do('call', 'theirs', 'acquireRead'));
        self::assertTrue($ours->isAcquired());
        $peer->do('call', 'theirs', 'release');

        // Alone again, ours is promoted; then demoted.
        self::assertTrue($ours->acquire());
        self::assertFalse($peer->do('call', 'theirs', 'acquireRead'));
        self::assertTrue($ours->acquireRead());
        self::assertTrue($peer->do('call', 'theirs', 'acquireRead'));

        // And theirs likewise.
        $ours->release();
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        self::assertFalse($ours->acquireRead());
        self::assertTrue($peer->do('call', 'theirs', 'acquireRead'));
        self::assertTrue($ours->acquireRead());
        self::assertFalse($this->lock('r')->acquire());
    }

    #[DataProvider('peers')]
    public function testARefusedPromotionKeepsTheSharedLock(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client);
        $ours = $this->lock('r');
        $ours->acquireRead();
        $peer->do('call', 'theirs', 'acquireRead');

        self::assertFalse($ours->acquire());
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        self::assertTrue($ours->isAcquired());
        self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
        $peer->do('call', 'theirs', 'release');
        self::assertTrue($ours->acquire());
    }

    #[DataProvider('peers')]
    public function testTheyLetGoWithTheirObject(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client);
        $ours = $this->lock('r');

        $peer->do('call', 'theirs', 'acquire');
        self::assertFalse($ours->acquire());
        $peer->do('drop', 'theirs');
        self::assertTrue($ours->acquire(true));
        unset($ours);
        $peer->do('redis', 'theirs', 'r', $this->place, null, 300.0, $client);
        self::assertTrue($peer->do('call', 'theirs', 'acquire', true));
    }

    #[DataProvider('peers')]
    public function testALockOutlivesItsProcessUntilItExpires(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client);
        $peer->do('call', 'theirs', 'acquire');
        $peer->kill();
        $ours = $this->lock('r');
        self::assertFalse($ours->acquire());
        self::assertFalse($ours->acquireRead());

        $this->server->command('PEXPIRE', 'r', 50);
        self::assertTrue($ours->acquire(true));
    }

    #[DataProvider('peers')]
    public function testOursGetsWhatTheirsReleases(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client);

        foreach (['acquire', 'acquireRead'] as $method) {
            $ours = $this->lock('r');
            self::assertTrue($peer->do('call', 'theirs', 'acquire'));
            Client::askToReleaseWhenAsked($peer, 'theirs', $this->server->port);

            self::assertTrue($ours->$method(true));
            self::assertNull($peer->answer());
            self::assertTrue($ours->isAcquired());
            self::assertFalse($peer->do('call', 'theirs', 'acquire'));
            $ours->release();
        }
    }

    #[DataProvider('peers')]
    public function testTheirsGetsWhatOursReleases(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client);
        $ours = $this->lock('r');

        foreach (['acquire', 'acquireRead'] as $method) {
            $ours->acquire();
            $asked = $this->server->count('type');
            $peer->ask('call', 'theirs', $method, true);
            Client::untilAsked($this->server->port, scripts: $asked);
            $ours->release();

            self::assertTrue($peer->answer());
            self::assertFalse($ours->acquire());
            $peer->do('call', 'theirs', 'release');
        }
    }

    #[DataProvider('peers')]
    public function testAWaitingReaderIsLetInByADemotion(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client);
        $ours = $this->lock('r');
        $ours->acquire();
        $asked = $this->server->count('type');
        $peer->ask('call', 'theirs', 'acquireRead', true);
        Client::untilAsked($this->server->port, scripts: $asked);

        self::assertTrue($ours->acquireRead());
        self::assertTrue($peer->answer());
        self::assertTrue($ours->isAcquired());
    }

    #[DataProvider('peers')]
    public function testAWaitingPromotionIsGrantedByTheLastReader(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client);
        $ours = $this->lock('r');
        $ours->acquireRead();
        $peer->do('call', 'theirs', 'acquireRead');
        Client::askToReleaseWhenAsked($peer, 'theirs', $this->server->port);

        self::assertTrue($ours->acquire(true));
        self::assertNull($peer->answer());
        self::assertFalse($peer->do('call', 'theirs', 'acquireRead'));
    }

    #[DataProvider('peers')]
    public function testALockIsHandedToThem(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client);
        $key = new Key('r');
        $ours = new Lock($key, Client::store($this->place), 100.0, false);
        $ours->acquire();
        $peer->do('take over', 'ours', $peer->pack($key), $this->place, 200.0, 300.0, $client);

        self::assertTrue($peer->do('call', 'ours', 'isAcquired'));
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        $peer->do('call', 'ours', 'refresh');
        self::assertEqualsWithDelta(200_000, $this->server->command('PTTL', 'r'), 10_000);
        self::assertTrue($ours->isAcquired());
        self::assertTrue($peer->do('call', 'ours', 'acquireRead'));
        self::assertTrue($this->lock('r')->acquireRead());
        self::assertTrue($peer->do('call', 'ours', 'acquire'));

        $peer->do('call', 'ours', 'release');
        self::assertFalse($ours->isAcquired());
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        $this->assertThrows(LockConflictedException::class, null, static fn () => $ours->refresh());
        $ours->release();
        self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
    }

    #[DataProvider('peers')]
    public function testALockIsHandedToUs(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client);
        $peer->do('call', 'theirs', 'acquire');
        $key = $peer->unpack($peer->do('hand over', 'theirs'));
        $lock = new Lock($key, Client::store($this->place), 200.0, false);

        self::assertTrue($lock->isAcquired());
        self::assertEqualsWithDelta(300.0, $lock->getRemainingLifetime(), 10.0);
        self::assertFalse($this->lock('r')->acquire());
        $lock->refresh();
        self::assertEqualsWithDelta(200_000, $this->server->command('PTTL', 'r'), 10_000);
        self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
        self::assertTrue($lock->acquireRead());
        self::assertTrue($this->lock('r')->acquireRead());
        self::assertTrue($lock->acquire());

        $lock->release();
        self::assertFalse($peer->do('call', 'theirs', 'isAcquired'));
        self::assertSame(0, $this->server->command('EXISTS', 'r'));
        $others = $this->lock('r');
        self::assertTrue($others->acquire());
        $peer->do('call', 'theirs', 'release');
        self::assertTrue($others->isAcquired());
    }

    public function testNothingIsLostAmongManyOfEveryKind(): void
    {
        $ledger = $this->directory() . '/ledger';
        $peers = [];
        foreach (self::peers() as [$start, $client]) {
            array_push($peers, $this->peer($start, $client), $this->peer($start, $client));
        }
        foreach ($peers as $peer) {
            $peer->ask('book', 'theirs', $ledger, 60);
        }
        foreach ($peers as $peer) {
            self::assertSame(60, $peer->answer(100.0));
        }

        self::assertSame(10 * 60, (new Booking($ledger))->balance());
        self::assertSame(0, $this->server->command('EXISTS', 'r'));
    }

    private function lock(string $resource): Lock
    {
        return new Lock(new Key($resource), Client::store($this->place), null);
    }

    /** A process with a lock that it calls "theirs". */
    private function peer(\Closure $start, string $client, string $resource = 'r'): Peer
    {
        $peer = $start($this->directory());
        $peer->do('redis', 'theirs', $resource, $this->place, null, 300.0, $client);

        return $peer;
    }
}
