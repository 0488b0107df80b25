<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Semaphore\Exception\SemaphoreExpiredException;
use Latch\Semaphore\Key;
use Latch\Semaphore\Semaphore;
use Latch\Tests\RedisServer;
use Latch\Tests\Support\Census;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\Redis\Servers;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use Latch\Tests\Support\Wait;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * Processes share the permits of one semaphore in Redis, whatever each of them runs on: the extension, or pure PHP
 * Symfony of any release. There is no oracle in this process: Composer's packages lack the component.
 */
#[Group('against-oracle')]
final class SemaphorePeersTest extends TestCase
{
    private RedisServer $server;

    protected function setUp(): void
    {
        $this->server = Servers::fresh();
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer, string}>
     */
    public static function peers(): iterable
    {
        yield 'our own kind' => [Peer::own(...), 'phpredis'];
        yield 'Symfony 7.4' => [Peer::semaphore7(...), 'phpredis'];
        yield 'Symfony 5.4' => [Peer::semaphore5(...), 'phpredis'];
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer, string}>
     */
    public static function symfonys(): iterable
    {
        return \array_slice(iterator_to_array(self::peers()), 1);
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer, string, string}>
     */
    public static function peersAndResources(): iterable
    {
        $resources = [
            'ordinary' => 's',
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
    public function testTheyShareTheLimit(\Closure $start, string $client, string $resource): void
    {
        $peer = $this->peer($start, $client, 5, 3, $resource);
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
    public function testTheyLetGoWithTheirObject(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client, 1);
        $ours = $this->semaphore(1);

        $peer->do('call', 'theirs', 'acquire');
        self::assertFalse($ours->acquire());
        $peer->do('drop', 'theirs');
        self::assertTrue($ours->acquire(true, 30.0));
        $peer->do('permits', 'theirs', 's', 1, 1, $this->server->port, 300.0, $client);
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        unset($ours); // what a destructor sends is not awaited
        Wait::until(static fn (): bool => $peer->do('call', 'theirs', 'acquire'), 'the peer gets what is given back');
        self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
    }

    #[DataProvider('peers')]
    public function testOursGetsWhatTheirsReleases(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client, 3, 3);
        $ours = $this->semaphore(3, 2);
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        self::assertFalse($ours->acquire(true, 0.1));
        $peer->ask('call', 'theirs', 'release');

        self::assertTrue($ours->acquire(true, 30.0));
        self::assertNull($peer->answer());
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
    }

    /** Symfony's polls would never find a permit free that goes from waiter to waiter. */
    #[DataProvider('symfonys')]
    public function testTheirsGetPermitsThatOursHandToEachOther(\Closure $start, string $client): void
    {
        $stop = $this->directory() . '/stop';
        $theirs = $this->peer($start, $client, 1);
        $ours = array_map(fn (): Peer => $this->peer(Peer::own(...), $client, 1), [1, 2, 3]);
        foreach ($ours as $peer) {
            $peer->ask('take turns', 'theirs', $stop);
        }
        Wait::until(fn (): bool => $this->server->command('EXISTS', 'latch:permit-queue:{s}') === 1, 'ours have a queue');

        Wait::until(static fn (): bool => $theirs->do('call', 'theirs', 'acquire'), 'the peer gets a permit');
        self::assertTrue($theirs->do('call', 'theirs', 'isAcquired'));
        $theirs->do('call', 'theirs', 'release');
        touch($stop);
        foreach ($ours as $peer) {
            self::assertGreaterThan(0, $peer->answer(100.0));
        }
        self::assertSame([], $this->server->command('ZRANGE', '{s}:weight', 0, -1));
    }

    #[DataProvider('peers')]
    public function testPermitsOfTheKilledComeBackWithTheirTime(\Closure $start, string $client): void
    {
        $peer = $start($this->directory());
        $peer->do('permits', 'theirs', 's', 1, 1, $this->server->port, 2.0, $client);
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        $peer->kill();

        $ours = $this->semaphore(1);
        self::assertFalse($ours->acquire());
        self::assertTrue($ours->acquire(true, 30.0));
    }

    #[DataProvider('peers')]
    public function testPermitsAreHandedToThem(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client, 3, 2);
        $key = new Key('s', 3, 2);
        $ours = new Semaphore($key, Client::semaphores($this->server->port), 100.0, false);
        $ours->acquire();
        $peer->do('take permits over', 'ours', $peer->pack($key), $this->server->port, 200.0, $client);

        self::assertTrue($peer->do('call', 'ours', 'isAcquired'));
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        $peer->do('call', 'ours', 'refresh');
        self::assertTrue($ours->isAcquired());
        $peer->do('call', 'ours', 'release');
        self::assertFalse($ours->isAcquired());
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        $this->assertThrows(SemaphoreExpiredException::class, null, static fn () => $ours->refresh());
        $ours->release();
        self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
    }

    #[DataProvider('peers')]
    public function testPermitsAreHandedToUs(\Closure $start, string $client): void
    {
        $peer = $this->peer($start, $client, 3, 2);
        $peer->do('call', 'theirs', 'acquire');
        $key = $peer->unpackPermits($peer->do('hand over', 'theirs'));
        $semaphore = new Semaphore($key, Client::semaphores($this->server->port), 200.0, false);

        self::assertSame([3, 2], [$key->getLimit(), $key->getWeight()]);
        self::assertTrue($semaphore->isAcquired());
        self::assertFalse($this->semaphore(3, 2)->acquire());
        $semaphore->refresh();
        self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
        $semaphore->release();
        self::assertFalse($peer->do('call', 'theirs', 'isAcquired'));
        self::assertTrue($this->semaphore(3, 3)->acquire());
    }

    public function testNobodyOvershootsAmongManyOfEveryKind(): void
    {
        $census = $this->directory() . '/census';
        $peers = [];
        foreach (self::peers() as [$start, $client]) {
            foreach ([1, 2, 3] as $weight) {
                $peers[] = $peer = $this->peer($start, $client, 5, $weight);
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
        self::assertSame([], $this->server->command('ZRANGE', '{s}:weight', 0, -1));
    }

    private function semaphore(int $limit, int $weight = 1, string $resource = 's'): Semaphore
    {
        return new Semaphore(new Key($resource, $limit, $weight), Client::semaphores($this->server->port));
    }

    /** A process with permits that it calls "theirs". */
    private function peer(
        \Closure $start,
        string $client,
        int $limit,
        int $weight = 1,
        string $resource = 's',
    ): Peer {
        $peer = $start($this->directory());
        $peer->do('permits', 'theirs', $resource, $limit, $weight, $this->server->port, 300.0, $client);

        return $peer;
    }
}
