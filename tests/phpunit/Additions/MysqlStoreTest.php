<?php

declare(strict_types=1);

namespace Latch\Tests\Additions;

use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Tools\DsnParser;
use Latch\BlockingStoreInterface;
use Latch\Exception\InvalidArgumentException;
use Latch\Exception\LockConflictedException;
use Latch\Key;
use Latch\Lock;
use Latch\SharedLockStoreInterface;
use Latch\Store\DoctrineDbalMysqlStore;
use Latch\Store\MysqlStore;
use Latch\Tests\MySqlServer;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Symfony has these stores since 8.2, which is not in Composer here: the statements are its own.
 */
final class MysqlStoreTest extends TestCase
{
    private const CLIENTS = ['PDO', 'unbuffered PDO', 'DSN', 'DBAL', 'URL'];

    private static ?MySqlServer $shared = null;
    private MySqlServer $server;

    protected function setUp(): void
    {
        $this->server = self::$shared ??= new MySqlServer();
        gc_collect_cycles(); // what a test before has left
        $this->server->awaitHeld(0);
    }

    public static function tearDownAfterClass(): void
    {
        self::$shared = null;
    }

    /**
     * @return iterable<string, array{string}>
     */
    public static function clients(): iterable
    {
        foreach (self::CLIENTS as $client) {
            yield $client => [$client];
        }
    }

    #[DataProvider('clients')]
    public function testAKeyIsStoredUntilItIsDeleted(string $client): void
    {
        $store = $this->store($client);
        self::assertInstanceOf(BlockingStoreInterface::class, $store);
        self::assertNotInstanceOf(SharedLockStoreInterface::class, $store);
        $key = new Key('r');
        self::assertFalse($store->exists($key));

        $store->save($key);
        self::assertTrue($store->exists($key));
        $store->putOffExpiration($key, 10.0);
        self::assertNull($key->getRemainingLifetime());
        self::assertFalse($store->exists(new Key('r')));
        $other = new Key('r');
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->save($other));
        $store->delete($other);
        self::assertSame(1, $this->server->held());

        $store->delete($key);
        self::assertFalse($store->exists($key));
        self::assertSame(0, $this->server->held());
    }

    #[DataProvider('clients')]
    public function testItExcludesWhoeverUsesSymfonysStatements(string $client): void
    {
        $lock = new Lock(new Key('r'), $this->store($client));
        $name = hash('sha256', 'r');
        $save = "SELECT IF(IS_USED_LOCK('$name') = CONNECTION_ID(), -1, GET_LOCK('$name', 0))";
        $theirs = $this->server->session();

        self::assertTrue($lock->acquire());
        self::assertSame('0', $theirs->value($save));
        $lock->release();
        self::assertSame('1', $theirs->value($save));
        self::assertFalse($lock->acquire());
        self::assertFalse($lock->acquireRead());
        $theirs->rows("DO RELEASE_LOCK('$name')");
        self::assertTrue($lock->acquire(true));

        $theirs->begin("SELECT GET_LOCK('$name', 1000)");
        $this->server->awaitWaiting(1);
        $lock->release();
        self::assertSame([['1']], $theirs->finish());
    }

    #[DataProvider('clients')]
    public function testEveryClientExcludesEveryOther(string $client): void
    {
        $ours = new Lock(new Key('r'), $this->store($client));
        foreach (self::CLIENTS as $other) {
            $theirs = new Lock(new Key('r'), $this->store($other));
            self::assertTrue($ours->acquire());
            self::assertFalse($theirs->acquire());
            self::assertFalse($theirs->acquire(true, 0.01));
            $ours->release();
            self::assertTrue($theirs->acquire(true));
            self::assertFalse($ours->acquire());
            $theirs->release();
        }
    }

    public function testStoresOnOneConnectionExcludeEachOther(): void
    {
        $pdo = $this->server->pdo();
        $connection = DriverManager::getConnection($this->parameters());
        foreach ([
            static fn () => new MysqlStore($pdo),
            static fn () => new DoctrineDbalMysqlStore($connection),
        ] as $make) {
            $one = new Lock(new Key('r'), $make());
            $two = new Lock(new Key('r'), $make());
            self::assertTrue($one->acquire());
            self::assertFalse($two->acquire());
            $one->release();
            self::assertTrue($two->acquire());
            $two->release();
        }
    }

    public function testConnectionsThatDoNotFitAreRefusedAsByPostgreSqlStores(): void
    {
        $pdo = $this->server->pdo();
        $name = Subject::name('Store\PostgreSqlStore');
        $this->assertThrows(
            InvalidArgumentException::class,
            "The adapter \"$name\" does not support the \"mysql\" driver.",
            static fn () => new \Latch\Store\PostgreSqlStore($pdo),
        );
        $connection = DriverManager::getConnection($this->parameters());
        $platform = $connection->getDatabasePlatform()::class;
        $name = Subject::name('Store\DoctrineDbalPostgreSqlStore');
        $this->assertThrows(
            InvalidArgumentException::class,
            "The adapter \"$name\" does not support the \"$platform\" platform.",
            static fn () => new \Latch\Store\DoctrineDbalPostgreSqlStore($connection),
        );
        $this->assertThrows(
            InvalidArgumentException::class,
            'DSN is invalid for Doctrine DBAL.',
            static fn () => new DoctrineDbalMysqlStore('mysql:host=localhost'),
        );
    }

    /**
     * @return array<string, mixed> of a connection of Doctrine DBAL
     */
    private function parameters(): array
    {
        return (new DsnParser(['mysql' => 'pdo_mysql']))->parse(
            preg_replace('/^mysql\+advisory/', 'mysql', $this->server->url()) ?? '',
        );
    }

    private function store(string $client): MysqlStore|DoctrineDbalMysqlStore
    {
        $pdo = $client === 'PDO' || $client === 'unbuffered PDO' ? $this->server->pdo() : null;
        $pdo?->setAttribute(\PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, $client === 'PDO');

        return match ($client) {
            'DSN' => new MysqlStore($this->server->dsn(';persistent_id=dsn')),
            'DBAL' => new DoctrineDbalMysqlStore(DriverManager::getConnection($this->parameters())),
            'URL' => new DoctrineDbalMysqlStore($this->server->url()),
            default => new MysqlStore($pdo),
        };
    }
}
