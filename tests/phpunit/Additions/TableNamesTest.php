<?php

declare(strict_types=1);

namespace Latch\Tests\Additions;

use Latch\Key;
use Latch\Lock;
use Latch\Store\PdoStore;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * Symfony names rows by a hash up to 8.0, and by the resource itself from 8.1 on: which of them a lock excludes.
 */
final class TableNamesTest extends TestCase
{
    private const LONG = 'a resource that has more than sixty-four bytes, of which every release writes the hash';

    protected function tearDown(): void
    {
        ini_restore('latch.lock_names');
        parent::tearDown();
    }

    #[TestWith([null, true, false])]
    #[TestWith(['ini both', true, true])]
    #[TestWith(['hash', true, false])]
    #[TestWith(['plain', false, true])]
    #[TestWith(['both', true, true])]
    public function testWhichReleasesOfSymfonyAreExcluded(?string $names, bool $excludesSeven, bool $excludesEight): void
    {
        $dsn = 'sqlite:' . $this->directory() . '/locks';
        if ($names === 'ini both') {
            ini_set('latch.lock_names', 'both');
            $names = null;
        }
        $ours = new PdoStore($dsn, ['names' => $names]);
        foreach (['r', "caf\u{e9} '\\", self::LONG] as $resource) {
            foreach ([[Peer::symfony(...), $excludesSeven], [Peer::symfony8(...), $excludesEight]] as [$start, $excludes]) {
                $peer = $start($this->directory());
                $excludes = $excludes || $resource === self::LONG;
                $peer->do('table', 'theirs', $resource, $dsn, 300.0);
                $lock = new Lock(new Key($resource), $ours, 300.0);

                self::assertTrue($lock->acquire());
                self::assertSame(!$excludes, $peer->do('call', 'theirs', 'acquire'));
                $peer->do('call', 'theirs', 'release');
                self::assertTrue($lock->isAcquired());
                $lock->refresh(200.0);
                self::assertFalse((new Lock(new Key($resource), new PdoStore(new \PDO($dsn), ['names' => $names])))->acquire());
                $lock->release();

                self::assertTrue($peer->do('call', 'theirs', 'acquire'));
                self::assertSame(!$excludes, $lock->acquire());
                $lock->release();
                self::assertTrue($peer->do('call', 'theirs', 'isAcquired'));
                $peer->do('call', 'theirs', 'release');
                self::assertSame('0', (string) (new \PDO($dsn))->query('SELECT count(*) FROM lock_keys')?->fetchColumn());
            }
        }
    }
}
