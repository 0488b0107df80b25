<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Semaphore\Exception\SemaphoreExpiredException;
use Latch\Semaphore\Key;
use Latch\Semaphore\Semaphore;
use Latch\Tests\RedisServer;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\Redis\Servers;
use Latch\Tests\Support\SharedPermits;
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
    use SharedPermits;

    private RedisServer $server;

    protected function setUp(): void
    {
        $this->server = Servers::fresh();
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer}>
     */
    public static function peers(): iterable
    {
        yield 'our own kind' => [Peer::own(...)];
        yield 'Symfony 7.4' => [Peer::semaphore7(...)];
        yield 'Symfony 5.4' => [Peer::semaphore5(...)];
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer}>
     */
    public static function symfonys(): iterable
    {
        return \array_slice(iterator_to_array(self::peers()), 1);
    }

    /** Symfony's polls would never find a permit free that goes from waiter to waiter. */
    #[DataProvider('symfonys')]
    public function testTheirsGetPermitsThatOursHandToEachOther(\Closure $start): void
    {
        $stop = $this->directory() . '/stop';
        $theirs = $this->peer($start, 1);
        $ours = array_map(fn (): Peer => $this->peer(Peer::own(...), 1), [1, 2, 3]);
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
    public function testPermitsOfTheKilledComeBackWithTheirTime(\Closure $start): void
    {
        $peer = $this->peer($start, 1, ttl: 2.0);
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        $peer->kill();

        $ours = $this->semaphore(1);
        self::assertFalse($ours->acquire());
        self::assertTrue($ours->acquire(true, 30.0));
    }

    #[DataProvider('peers')]
    public function testPermitsAreHandedToThem(\Closure $start): void
    {
        $peer = $this->peer($start, 3, 2);
        $key = new Key('s', 3, 2);
        $ours = new Semaphore($key, Client::semaphores($this->server->port), 100.0, false);
        $ours->acquire();
        $peer->do('take permits over', 'ours', $peer->pack($key), $this->server->port, 200.0, 'phpredis');

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
    public function testPermitsAreHandedToUs(\Closure $start): void
    {
        $peer = $this->peer($start, 3, 2);
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

    private function semaphore(int $limit, int $weight = 1, string $resource = 's'): Semaphore
    {
        return new Semaphore(new Key($resource, $limit, $weight), Client::semaphores($this->server->port));
    }

    private function makeTheirs(Peer $peer, int $limit, int $weight, string $resource, float $ttl): void
    {
        $peer->do('permits', 'theirs', $resource, $limit, $weight, $this->server->port, $ttl, 'phpredis');
    }
}
