<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Doctrine\DBAL\Connection;
use Doctrine\DBAL\Driver\PDO\SQLite\Driver;
use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Exception\TableExistsException;
use Doctrine\DBAL\Schema\Schema;
use Latch\Exception\LockConflictedException;
use Latch\Exception\LockStorageException;
use Latch\Key;
use Latch\Lock;
use Latch\PersistingStoreInterface;
use Latch\Store\DoctrineDbalStore;
use Latch\Store\PdoStore;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * DoctrineDbalStore on Doctrine DBAL 4.5, in SQLite.
 */
final class DoctrineDbalStoreTest extends TestCase
{
    private const NAMES = ['db_table' => 'my_locks', 'db_id_col' => 'id', 'db_token_col' => 'token', 'db_expiration_col' => 'until'];

    private string $file;

    protected function setUp(): void
    {
        $this->file = $this->directory() . '/locks';
    }

    /**
     * @return iterable<string, array{string}>
     */
    public static function clients(): iterable
    {
        yield 'a connection' => ['connection'];
        yield 'a connection by a driver of its own' => ['driver'];
        yield 'a URL' => ['URL'];
    }

    #[DataProvider('clients')]
    public function testAKeyIsStoredUntilItIsDeleted(string $client): void
    {
        $store = $this->store($client);
        self::assertInstanceOf(PersistingStoreInterface::class, $store);
        $key = new Key('r');
        $store->save($key);
        $store->save($key);

        self::assertTrue($store->exists($key));
        self::assertFalse($store->exists(new Key('r')));
        self::assertGreaterThan(299.0, $key->getRemainingLifetime());
        $this->assertThrows(LockConflictedException::class, '', fn () => $this->store($client)->save(new Key('r')));
        $store->putOffExpiration($key, 1000.0);
        self::assertGreaterThan(299.0, $key->getRemainingLifetime());
        self::assertSame(1, $this->connection()->executeStatement('UPDATE lock_keys SET key_expiration = key_expiration - 700'));
        self::assertTrue($store->exists($key));
        self::assertSame(1, $this->connection()->executeStatement('UPDATE lock_keys SET key_expiration = 5'));
        self::assertFalse($store->exists($key));
        $this->store($client)->save($other = new Key('r'));
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->putOffExpiration($key, 10.0));
        $store->delete($key);
        self::assertTrue($store->exists($other));
        $store->delete($other);
        self::assertSame(0, $this->connection()->fetchOne('SELECT count(*) FROM lock_keys'));
    }

    #[DataProvider('clients')]
    public function testItExcludesPdoStore(string $client): void
    {
        $lock = new Lock(new Key('r'), $this->store($client), 300.0);
        $other = new Lock(new Key('r'), new PdoStore("sqlite:$this->file"), 300.0);

        self::assertTrue($lock->acquire());
        self::assertFalse($other->acquire());
        $lock->release();
        self::assertTrue($other->acquire());
        self::assertFalse($lock->acquire());
    }

    public function testATokenIsKeptUnderTheNameOfTheClass(): void
    {
        $key = new Key('r');
        $this->store('connection')->save($key);
        self::assertTrue($this->store('URL')->exists(unserialize(serialize($key))));
        self::assertFalse((new PdoStore("sqlite:$this->file"))->exists($key));
    }

    #[TestWith(['connection'])]
    #[TestWith(['URL'])]
    public function testTheTableIsCreated(string $client): void
    {
        $store = $this->store($client, self::NAMES);
        $store->createTable();

        self::assertSame(
            ['id', 'token', 'until'],
            array_column($this->connection()->fetchAllAssociative("SELECT name FROM pragma_table_info('my_locks')"), 'name'),
        );
        // With a URL Latch has no connection of DBAL's, and none of its exceptions.
        $ofLatch = $client === 'URL' && Subject::mode() !== 'oracle';
        $e = $this->assertThrows(
            $ofLatch ? LockStorageException::class : TableExistsException::class,
            null,
            static fn () => $store->createTable(),
        );
        self::assertStringContainsString('table my_locks already exists', $e->getMessage());
        $store->save($key = new Key('r'));
        self::assertTrue($store->exists($key));
    }

    public function testASchemaGetsTheTable(): void
    {
        $connection = $this->connection();
        $store = new DoctrineDbalStore($connection, self::NAMES);
        $schema = new Schema();
        $filled = $store->configureSchema($schema, static fn (\Closure $execute): bool => $execute('SELECT 1') >= 0);

        self::assertFalse($schema->hasTable('my_locks'), 'a new schema is made');
        self::assertSame(
            ['CREATE TABLE my_locks (id VARCHAR(64) NOT NULL, token VARCHAR(44) NOT NULL, until INTEGER UNSIGNED NOT NULL, '
                . 'PRIMARY KEY (id))'],
            $filled->toSql($connection->getDatabasePlatform()),
        );
        self::assertSame($filled, $store->configureSchema($filled, static fn (): bool => throw new \LogicException()));
        self::assertSame($schema, $store->configureSchema($schema, static fn (): bool => false));
        $this->assertThrows(
            \LogicException::class,
            'thrown',
            static fn () => $store->configureSchema($schema, static fn (): bool => throw new \LogicException('thrown')),
        );
    }

    public function testATransactionGoesOn(): void
    {
        $connection = $this->connection();
        $store = new DoctrineDbalStore($connection);
        $store->createTable();
        $connection->beginTransaction();
        $store->save($key = new Key('r'));
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->save(new Key('r')));
        $connection->commit();

        self::assertTrue($this->store('connection')->exists($key));
        $connection->close();
        self::assertTrue($store->exists($key), 'DBAL connects anew');
    }

    private function connection(): Connection
    {
        return DriverManager::getConnection(['driver' => 'pdo_sqlite', 'path' => $this->file]);
    }

    /**
     * @param array<string, string> $options
     */
    private function store(string $client, array $options = []): DoctrineDbalStore
    {
        return new DoctrineDbalStore(match ($client) {
            'connection' => $this->connection(),
            'driver' => DriverManager::getConnection(['driverClass' => Driver::class, 'path' => $this->file]),
            default => "sqlite:///$this->file",
        }, $options);
    }
}
