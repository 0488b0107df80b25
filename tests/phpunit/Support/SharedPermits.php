<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

use Latch\Semaphore\Semaphore;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * What processes that share the permits of a semaphore promise each other, in whatever store.
 */
trait SharedPermits
{
    /**
     * How other processes are started.
     *
     * @return iterable<string, array{\Closure(string): Peer}>
     */
    abstract public static function peers(): iterable;

    abstract private function semaphore(int $limit, int $weight = 1, string $resource = 's'): Semaphore;

    /** Makes the peer's semaphore "theirs". */
    abstract private function makeTheirs(Peer $peer, int $limit, int $weight, string $resource, float $ttl): void;

    /**
     * @return iterable<string, array{\Closure(string): Peer, string}>
     */
    public static function peersAndResources(): iterable
    {
        $resources = [
            'ordinary' => 's',
            ...Subject::emptyResource(),
            'odd' => "../a {b}\0c/\u{fc}",
            'long' => str_repeat('long ', 40),
        ];
        foreach (self::peers() as $name => [$start]) {
            foreach ($resources as $kind => $resource) {
                yield "$name, $kind resource" => [$start, $resource];
            }
        }
    }

    #[DataProvider('peersAndResources')]
    public function testTheyShareTheLimit(\Closure $start, string $resource): void
    {
        $peer = $this->peer($start, 5, 3, $resource);
        [$two, $three] = [$this->semaphore(5, 2, $resource), $this->semaphore(5, 3, $resource)];

        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        self::assertFalse($three->acquire());
        self::assertTrue($two->acquire());
        self::assertFalse($this->semaphore(5, 1, $resource)->acquire());
        $peer->do('call', 'theirs', 'release');
        self::assertTrue($three->acquire());
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        $two->release();
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        $three->release();
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
        $peer->do('call', 'theirs', 'refresh', 200.0);
        self::assertFalse($three->acquire());
    }

    #[DataProvider('peers')]
    public function testTheyLetGoWithTheirObject(\Closure $start): void
    {
        $peer = $this->peer($start, 2, 2);
        $ours = $this->semaphore(2, 2);

        $peer->do('call', 'theirs', 'acquire');
        self::assertFalse($ours->acquire());
        $peer->do('drop', 'theirs');
        self::assertTrue($ours->acquire(true, 30.0));
        $this->makeTheirs($peer, 2, 1, 's', 300.0);
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        unset($ours); // what a destructor sends is not awaited
        Wait::until(static fn (): bool => $peer->do('call', 'theirs', 'acquire'), 'the peer gets what is given back');
        self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
    }

    #[DataProvider('peers')]
    public function testOursGetsWhatTheirsReleases(\Closure $start): void
    {
        $peer = $this->peer($start, 3, 3);
        $ours = $this->semaphore(3, 2);
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        self::assertFalse($ours->acquire(true, 0.1));
        $peer->ask('call', 'theirs', 'release');

        self::assertTrue($ours->acquire(true, 30.0));
        self::assertNull($peer->answer());
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
    }

    public function testNobodyOvershootsAmongManyOfEveryKind(): void
    {
        $census = $this->directory() . '/census';
        $peers = [];
        foreach (self::peers() as [$start]) {
            foreach ([1, 2, 3] as $weight) {
                $peers[] = $peer = $this->peer($start, 5, $weight);
                $peer->ask('crowd', 'theirs', $census, $weight, 60);
            }
        }
        foreach ($peers as $peer) {
            self::assertSame(60, $peer->answer(100.0));
        }

        [$now, $most] = (new Census($census))->read();
        self::assertSame(0, $now);
        self::assertLessThanOrEqual(5, $most);
        self::assertGreaterThan(1, $most);
        self::assertTrue($this->semaphore(5, 5)->acquire());
    }

    /** A process with permits that it calls "theirs". */
    private function peer(
        \Closure $start,
        int $limit,
        int $weight = 1,
        string $resource = 's',
        float $ttl = 300.0,
    ): Peer {
        $peer = $start($this->directory());
        $this->makeTheirs($peer, $limit, $weight, $resource, $ttl);

        return $peer;
    }
}
