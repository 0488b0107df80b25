<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Key;
use Latch\Lock;
use Latch\Store\PdoStore;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Processes exclude each other by one table, and hand keys over to each other, whatever each of them runs on: the
 * classes under test, or pure PHP Symfony of any release that names its rows by a hash.
 */
final class TablePeersTest extends TestCase
{
    private string $dsn;

    protected function setUp(): void
    {
        $this->dsn = 'sqlite:' . $this->directory() . '/locks';
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer}>
     */
    public static function peers(): iterable
    {
        yield 'our own kind' => [Peer::own(...)];
        yield 'Symfony 7.4' => [Peer::symfony(...)];
        yield 'Symfony 6.4' => [Peer::symfony6(...)];
        yield 'Symfony 5.4' => [Peer::debian(...)];
    }

    /**
     * @param \Closure(string): Peer $start
     */
    #[DataProvider('peers')]
    public function testTheyExcludeEachOther(\Closure $start): void
    {
        $peer = $start($this->directory());
        $resources = ['r', ...array_values(Subject::emptyResource()), "../a {b}\0c/\u{fc}", str_repeat('long ', 40)];
        foreach ($resources as $resource) {
            $peer->do('table', 'theirs', $resource, $this->dsn, 300.0);
            $lock = new Lock(new Key($resource), new PdoStore($this->dsn), 300.0);

            self::assertTrue($lock->acquire());
            self::assertFalse($peer->do('call', 'theirs', 'acquire'));
            $lock->release();
            self::assertTrue($peer->do('call', 'theirs', 'acquire'));
            self::assertFalse($lock->acquire());
            self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
            $peer->do('call', 'theirs', 'release');
            self::assertTrue($lock->acquire());
            $lock->release();
        }
    }

    /**
     * @param \Closure(string): Peer $start
     */
    #[DataProvider('peers')]
    public function testAKeyIsHandedOverBothWays(\Closure $start): void
    {
        $peer = $start($this->directory());
        $store = new PdoStore($this->dsn);
        $key = new Key('r');
        $lock = new Lock($key, $store, 300.0, false);
        self::assertTrue($lock->acquire());

        $peer->do('take table over', 'taken', base64_encode(serialize($key)), $this->dsn, 300.0);
        self::assertTrue($peer->do('call', 'taken', 'isAcquired'));
        $peer->do('call', 'taken', 'refresh', 600.0);
        self::assertTrue($lock->isAcquired());
        $peer->do('call', 'taken', 'release');
        self::assertFalse($store->exists($key));

        $peer->do('table', 'theirs', 'r', $this->dsn, 300.0);
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        $lock = new Lock($peer->unpack($peer->do('hand over', 'theirs')), $store, 300.0, false);
        self::assertTrue($lock->isAcquired());
        $lock->refresh(600.0);
        self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
        $lock->release();
        self::assertFalse($peer->do('call', 'theirs', 'isAcquired'));
    }
}
