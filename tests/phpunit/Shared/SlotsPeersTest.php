<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\LockFactory;
use Latch\Semaphore\Key;
use Latch\Semaphore\Semaphore;
use Latch\Semaphore\Store\LockStore;
use Latch\Store\FlockStore;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\SharedPermits;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * Processes share permits that are locks in files, on the extension and on the LockStore of pure PHP Symfony 8.1.
 */
#[Group('against-oracle')]
final class SlotsPeersTest extends TestCase
{
    use SharedPermits;

    /**
     * @return iterable<string, array{\Closure(string): Peer}>
     */
    public static function peers(): iterable
    {
        yield 'our own kind' => [Peer::own(...)];
        yield 'Symfony 8.1' => [Peer::semaphore8(...)];
    }

    #[DataProvider('peers')]
    public function testTheKernelFreesWhatTheKilledHeld(\Closure $start): void
    {
        $peer = $this->peer($start, 2, 2);
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        self::assertFalse($this->semaphore(2)->acquire());
        $peer->kill();

        self::assertTrue($this->semaphore(2, 2)->acquire(true, 30.0));
    }

    private function semaphore(int $limit, int $weight = 1, string $resource = 's'): Semaphore
    {
        return new Semaphore(
            new Key($resource, $limit, $weight),
            new LockStore(new LockFactory(new FlockStore($this->directory()))),
        );
    }

    private function makeTheirs(Peer $peer, int $limit, int $weight, string $resource, float $ttl): void
    {
        $peer->do('slots', 'theirs', $resource, $limit, $weight, $ttl);
    }
}
