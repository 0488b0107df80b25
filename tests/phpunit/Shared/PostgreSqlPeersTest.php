<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Key;
use Latch\Lock;
use Latch\Tests\PostgreSqlServer;
use Latch\Tests\Support\Booking;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\PostgreSql;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Processes exclude each other by one PostgreSQL server, whatever each of them runs on: the classes under
 * test, or pure PHP Symfony of any release.
 */
final class PostgreSqlPeersTest extends TestCase
{
    private PostgreSqlServer $server;

    protected function setUp(): void
    {
        $this->server = PostgreSql::server();
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer, string, string}> a peer, its client, and ours
     */
    public static function peers(): iterable
    {
        foreach (PostgreSql::CLIENTS as $ours) {
            yield "our own kind, on $ours" => [Peer::own(...), 'DSN', $ours];
            yield "Symfony 7.4, on $ours" => [Peer::symfony(...), 'PDO', $ours];
            yield "Symfony 7.4 by DBAL, on $ours" => [Peer::symfony(...), 'DBAL', $ours];
        }
        yield 'Symfony 8' => [Peer::symfony8(...), 'PDO', 'DSN'];
        yield 'Symfony 6.4' => [Peer::symfony6(...), 'PDO', 'DSN'];
        yield 'Symfony 5.4' => [Peer::debian(...), 'PDO', 'DSN'];
    }

    /**
     * All but Symfony 5.4, which no longer releases its shared lock once a promotion was refused.
     *
     * @return iterable<string, array{\Closure(string): Peer, string, string}>
     */
    public static function readers(): iterable
    {
        foreach (self::peers() as $name => $peer) {
            if ($name !== 'Symfony 5.4') {
                yield $name => $peer;
            }
        }
    }

    #[DataProvider('peers')]
    public function testTheyExcludeEachOther(\Closure $start, string $client, string $ours): void
    {
        foreach (['r', ...array_values(Subject::emptyResource()), "../a {b}\0c/\u{fc}", str_repeat('long ', 40)] as $resource) {
            $peer = $this->peer($start, $client, $resource);
            $lock = new Lock(new Key($resource), PostgreSql::store($this->server->port, $ours));

            self::assertTrue($lock->acquire());
            self::assertFalse($peer->do('call', 'theirs', 'acquire'));
            self::assertFalse($peer->do('call', 'theirs', 'acquireRead'));
            $lock->release();
            self::assertTrue($peer->do('call', 'theirs', 'acquire'));
            self::assertFalse($lock->acquire());
            self::assertFalse($lock->acquireRead());
            $peer->do('call', 'theirs', 'release');
            self::assertTrue($lock->acquire());
            $lock->release();
        }
    }

    #[DataProvider('readers')]
    public function testTheyReadTogether(\Closure $start, string $client, string $ours): void
    {
        $peer = $this->peer($start, $client);
        $lock = new Lock(new Key('r'), PostgreSql::store($this->server->port, $ours));

        self::assertTrue($lock->acquireRead());
        self::assertTrue($peer->do('call', 'theirs', 'acquireRead'));
        self::assertFalse($lock->acquire());
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        $peer->do('call', 'theirs', 'release');
        self::assertTrue($lock->acquire());
        self::assertFalse($peer->do('call', 'theirs', 'acquireRead'));
        self::assertTrue($lock->acquireRead());
        self::assertTrue($peer->do('call', 'theirs', 'acquireRead'));
    }

    #[DataProvider('peers')]
    public function testEachGetsWhatTheOtherReleases(\Closure $start, string $client, string $ours): void
    {
        $peer = $this->peer($start, $client);
        $lock = new Lock(new Key('r'), PostgreSql::store($this->server->port, $ours));

        foreach (['acquire', 'acquireRead'] as $method) {
            self::assertTrue($lock->acquire());
            $peer->ask('call', 'theirs', $method, true);
            $this->server->awaitWaiting(1);
            $lock->release();
            self::assertTrue($peer->answer());
            self::assertFalse($lock->acquire());
            $peer->do('call', 'theirs', 'release');
        }
    }

    #[DataProvider('peers')]
    public function testALockEndsWithItsProcess(\Closure $start, string $client, string $ours): void
    {
        $peer = $this->peer($start, $client);
        $lock = new Lock(new Key('r'), PostgreSql::store($this->server->port, $ours));
        $peer->do('call', 'theirs', 'acquire');
        self::assertFalse($lock->acquire());
        $peer->kill();

        self::assertTrue($lock->acquire(true));
    }

    public function testNothingIsLostAmongManyOfEveryKind(): void
    {
        $ledger = $this->directory() . '/ledger';
        $peers = [];
        foreach (self::peers() as [$start, $client, $ours]) {
            if ($ours === 'DSN') {
                $peers[] = $this->peer($start, $client);
            }
        }
        array_push($peers, $this->peer(Peer::own(...), 'PDO'), $this->peer(Peer::own(...), 'DBAL'));
        foreach ($peers as $peer) {
            $peer->ask('book', 'theirs', $ledger, 60);
        }
        foreach ($peers as $peer) {
            self::assertSame(60, $peer->answer(100.0));
        }

        self::assertSame(count($peers) * 60, (new Booking($ledger))->balance());
        $this->server->awaitHeld(0);
    }

    /** A process with a lock that it calls "theirs". */
    private function peer(\Closure $start, string $client, string $resource = 'r'): Peer
    {
        $peer = $start($this->directory());
        $peer->do('postgresql', 'theirs', $resource, $this->server->port, $client);

        return $peer;
    }
}
