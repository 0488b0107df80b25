<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\BlockingSharedLockStoreInterface;
use Latch\BlockingStoreInterface;
use Latch\Exception\InvalidArgumentException;
use Latch\Key;
use Latch\Lock;
use Latch\Store\DoctrineDbalPostgreSqlStore;
use Latch\Store\PostgreSqlStore;
use Latch\Tests\PostgreSqlServer;
use Latch\Tests\Support\PostgreSql;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

final class PostgreSqlStoreTest extends TestCase
{
    private PostgreSqlServer $server;

    protected function setUp(): void
    {
        $this->server = PostgreSql::server();
    }

    /**
     * @return iterable<string, array{string}>
     */
    public static function clients(): iterable
    {
        foreach (PostgreSql::CLIENTS as $client) {
            yield $client => [$client];
        }
    }

    #[DataProvider('clients')]
    public function testItIsSymfonysKindOfStore(string $client): void
    {
        self::assertInstanceOf(BlockingSharedLockStoreInterface::class, $this->store($client));
        self::assertInstanceOf(BlockingStoreInterface::class, $this->store($client));
    }

    #[DataProvider('clients')]
    public function testAKeyIsStoredUntilItIsDeleted(string $client): void
    {
        $store = $this->store($client);
        $key = new Key('r');
        self::assertFalse($store->exists($key));

        $store->save($key);
        self::assertTrue($store->exists($key));
        $store->putOffExpiration($key, 10.0);
        self::assertNull($key->getRemainingLifetime());
        self::assertFalse($store->exists(new Key('r')));
        self::assertSame(1, $this->server->held());

        $store->delete($key);
        self::assertFalse($store->exists($key));
        $store->delete($key);
        $store->delete(new Key('never stored'));
        self::assertSame(0, $this->server->held());
    }

    #[DataProvider('clients')]
    public function testReadersShareAndPromotionsAndDemotionsAreOfOneKey(string $client): void
    {
        $store = $this->store($client);
        $one = new Lock(new Key('r'), $store);
        $two = new Lock(new Key('r'), $store);

        self::assertTrue($one->acquireRead());
        self::assertTrue($two->acquireRead());
        self::assertFalse($one->acquire());
        self::assertTrue($one->isAcquired());
        $two->release();
        self::assertTrue($one->acquire());
        self::assertFalse($two->acquireRead());
        self::assertTrue($one->acquireRead());
        self::assertTrue($two->acquireRead());
        $one->release();
        self::assertTrue($two->isAcquired());
        $two->release();
        self::assertSame(0, $this->server->held());
    }

    #[DataProvider('clients')]
    public function testItExcludesOtherSessions(string $client): void
    {
        $ours = new Lock(new Key('r'), $this->store($client));
        foreach (PostgreSql::CLIENTS as $other) {
            if ([$client, $other] === ['DSN', 'DSN'] || [$client, $other] === ['URL', 'URL']) {
                continue; // one session
            }
            $theirs = new Lock(new Key('r'), $this->store($other));
            self::assertTrue($ours->acquire());
            self::assertFalse($theirs->acquire());
            self::assertFalse($theirs->acquireRead());
            $ours->release();
            self::assertTrue($theirs->acquire(true));
            self::assertFalse($ours->acquire());
            $theirs->release();
        }
    }

    public function testStoresOnOneConnectionExcludeEachOther(): void
    {
        $pdo = PostgreSql::pdo($this->server->port);
        $one = new Lock(new Key('r'), new PostgreSqlStore($pdo));
        $two = new Lock(new Key('r'), new PostgreSqlStore($pdo));

        self::assertTrue($one->acquire());
        self::assertFalse($two->acquire());
        $one->release();
        self::assertTrue($two->acquire());
    }

    public function testTheNumberIsSymfonys(): void
    {
        $lock = new Lock(new Key('r'), $this->store('PDO'));
        $lock->acquire();

        self::assertSame(
            [['0', (string) crc32('r'), '1', 'ExclusiveLock']],
            $this->server->rows("SELECT classid, objid, objsubid, mode FROM pg_locks WHERE locktype = 'advisory'"),
        );
    }

    public function testConnectionsThatDoNotFitAreRefusedInSymfonysWords(): void
    {
        $pdo = PostgreSql::pdo($this->server->port);
        $pdo->setAttribute(\PDO::ATTR_ERRMODE, \PDO::ERRMODE_SILENT);
        $name = Subject::name('Store\PostgreSqlStore');
        $this->assertThrows(
            InvalidArgumentException::class,
            "\"$name::__construct\" requires PDO error mode attribute be set to throw Exceptions "
                . '(i.e. $pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION)).',
            static fn () => new PostgreSqlStore($pdo),
        );

        $name = Subject::name('Store\DoctrineDbalPostgreSqlStore');
        $this->assertThrows(
            InvalidArgumentException::class,
            'DSN is invalid for Doctrine DBAL.',
            static fn () => new DoctrineDbalPostgreSqlStore('pgsql:host=localhost'),
        );
        $this->assertThrows(
            InvalidArgumentException::class,
            "The adapter \"$name\" does not support the \"mysql\" driver.",
            static fn () => new DoctrineDbalPostgreSqlStore('mysql://localhost/test'),
        );
        foreach ([null, 7.5, new \stdClass(), []] as $wrong) {
            $this->assertThrows(\TypeError::class, null, static fn () => new PostgreSqlStore($wrong));
            $this->assertThrows(\TypeError::class, null, static fn () => new DoctrineDbalPostgreSqlStore($wrong));
        }
    }

    private function store(string $client): PostgreSqlStore|DoctrineDbalPostgreSqlStore
    {
        return PostgreSql::store($this->server->port, $client);
    }
}
