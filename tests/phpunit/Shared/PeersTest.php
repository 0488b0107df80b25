<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Key;
use Latch\Lock;
use Latch\Store\FlockStore;
use Latch\Tests\Support\Booking;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use Latch\Tests\Support\Wait;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Processes exclude each other on one FlockStore directory, whatever each of them runs on: the classes
 * under test, the newest pure PHP Symfony, Debian's Symfony 5.4.
 */
final class PeersTest extends TestCase
{
    /**
     * @return iterable<string, array{\Closure(string): Peer}>
     */
    public static function peers(): iterable
    {
        yield 'our own kind' => [Peer::own(...)];
        yield 'Symfony 7.4' => [Peer::symfony(...)];
        yield 'Symfony 5.4' => [Peer::debian(...)];
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer, string}>
     */
    public static function peersAndResources(): iterable
    {
        $resources = [
            'ordinary' => 'r',
            ...Subject::emptyResource(),
            'odd' => "../a b\0c/\u{fc}",
            'long' => str_repeat('long ', 40),
        ];
        foreach (self::peers() as $name => [$peer]) {
            foreach ($resources as $kind => $resource) {
                yield "$name, $kind resource" => [$peer, $resource];
            }
        }
    }

    #[DataProvider('peersAndResources')]
    public function testTheyExcludeEachOther(\Closure $start, string $resource): void
    {
        $peer = $start($this->directory());
        $peer->do('lock', 'theirs', $resource);
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
    public function testTheyReadTogether(\Closure $start): void
    {
        $peer = $start($this->directory());
        $peer->do('lock', 'theirs', 'r');
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
    public function testARefusedPromotionLeavesNobodyWithTwoLocks(\Closure $start): void
    {
        $peer = $start($this->directory());
        $peer->do('lock', 'theirs', 'r');
        $peer->do('lock', 'another of theirs', 'r');
        $ours = $this->lock('r');
        $ours->acquireRead();
        $peer->do('call', 'theirs', 'acquireRead');

        self::assertFalse($ours->acquire());
        self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
        $ours->release();
        self::assertTrue($peer->do('call', 'theirs', 'acquire'), 'Ours is gone altogether.');
    }

    #[DataProvider('peers')]
    public function testTheyLetGoWithTheirObjectAndWithTheirLife(\Closure $start): void
    {
        $peer = $start($this->directory());
        $ours = $this->lock('r');

        $peer->do('lock', 'theirs', 'r');
        $peer->do('call', 'theirs', 'acquire');
        self::assertFalse($ours->acquire());
        $peer->do('drop', 'theirs');
        self::assertTrue($ours->acquire());
        $ours->release();

        $peer->do('lock', 'theirs', 'r');
        $peer->do('call', 'theirs', 'acquire');
        self::assertFalse($ours->acquire());
        $peer->kill();
        self::assertTrue($ours->acquire());
    }

    #[DataProvider('peers')]
    public function testOursWakesUpWhenTheirsIsReleased(\Closure $start): void
    {
        $peer = $start($this->directory());
        $peer->do('lock', 'theirs', 'r');

        foreach (['acquire', 'acquireRead'] as $method) {
            $ours = $this->lock('r');
            self::assertTrue($peer->do('call', 'theirs', 'acquire'));
            $peer->ask('release when queued', 'theirs', getmypid(), $this->lockFile('r'));

            self::assertTrue($ours->$method(true));
            self::assertNull($peer->answer());
            self::assertTrue($ours->isAcquired());
            self::assertFalse($peer->do('call', 'theirs', 'acquire'));
            $ours->release();
        }
    }

    #[DataProvider('peers')]
    public function testTheirsWakesUpWhenOursIsReleased(\Closure $start): void
    {
        $peer = $start($this->directory());
        $peer->do('lock', 'theirs', 'r');
        $ours = $this->lock('r');

        foreach (['acquire', 'acquireRead'] as $method) {
            $ours->acquire();
            $peer->ask('call', 'theirs', $method, true);
            Wait::untilQueued($peer->pid(), $this->lockFile('r'));
            $ours->release();

            self::assertTrue($peer->answer());
            self::assertFalse($ours->acquire());
            $peer->do('call', 'theirs', 'release');
        }
    }

    #[DataProvider('peers')]
    public function testAWaitingReaderIsLetInByADemotion(\Closure $start): void
    {
        $peer = $start($this->directory());
        $peer->do('lock', 'theirs', 'r');
        $ours = $this->lock('r');
        $ours->acquire();
        $peer->ask('call', 'theirs', 'acquireRead', true);
        Wait::untilQueued($peer->pid(), $this->lockFile('r'));

        self::assertTrue($ours->acquireRead());
        self::assertTrue($peer->answer());
        self::assertTrue($ours->isAcquired());
    }

    #[DataProvider('peers')]
    public function testAWaitingPromotionIsGrantedByTheLastReader(\Closure $start): void
    {
        $peer = $start($this->directory());
        $peer->do('lock', 'theirs', 'r');
        $ours = $this->lock('r');
        $ours->acquireRead();
        $peer->do('call', 'theirs', 'acquireRead');
        $peer->ask('release when queued', 'theirs', getmypid(), $this->lockFile('r'));

        self::assertTrue($ours->acquire(true));
        self::assertNull($peer->answer());
        self::assertFalse($peer->do('call', 'theirs', 'acquireRead'));
    }

    public function testNothingIsLostAmongManyOfEveryKind(): void
    {
        $ledger = $this->directory() . '/ledger';
        $peers = [];
        foreach (self::peers() as [$start]) {
            array_push($peers, $start($this->directory()), $start($this->directory()));
        }
        foreach ($peers as $peer) {
            $peer->do('lock', 'theirs', 'r');
        }
        foreach ($peers as $peer) {
            $peer->ask('book', 'theirs', $ledger, 200);
        }
        foreach ($peers as $peer) {
            self::assertSame(200, $peer->answer(60.0));
        }

        self::assertSame(6 * 200, (new Booking($ledger))->balance());
    }

    private function lock(string $resource): Lock
    {
        return new Lock(new Key($resource), new FlockStore($this->directory()));
    }
}
