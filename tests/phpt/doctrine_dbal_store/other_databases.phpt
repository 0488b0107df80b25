--TEST--
DoctrineDbalStore in databases that Latch has no statements for: Symfony's two, with the final expiry in the first
--EXTENSIONS--
pdo
pdo_sqlite
--FILE--
<?php
/*
 * The classes of Doctrine DBAL that matter are made here, on a database of SQLite's that takes the expressions of the
 * others for its own. DBAL itself is in tests/phpunit/Shared/DoctrineDbalStoreTest.php.
 */
namespace Doctrine\DBAL\Platforms {
    class OraclePlatform
    {
    }

    class SQLServerPlatform
    {
    }

    class PostgreSQLPlatform
    {
    }

    class DB2Platform
    {
    }
}

namespace Doctrine\DBAL\Exception {
    class TableNotFoundException extends \RuntimeException
    {
    }
}

namespace Doctrine\DBAL\Schema {
    class Schema
    {
        private array $tables = [];

        public function hasTable(string $name): bool
        {
            return isset($this->tables[$name]);
        }

        public function createTable(string $name): Table
        {
            return $this->tables[$name] = new Table($name);
        }

        public function toSql(object $platform): array
        {
            return array_map(fn (Table $table) => $table->sql(), array_values($this->tables));
        }
    }

    class Table
    {
        private array $columns = [];

        public function __construct(private string $name)
        {
        }

        public function addColumn(string $name, string $type, array $options): void
        {
            $this->columns[] = "$name $type " . json_encode($options);
        }

        public function setPrimaryKey(array $columns): void
        {
            $this->columns[] = 'PRIMARY KEY ' . implode(' ', $columns);
        }

        public function sql(): string
        {
            return "CREATE TABLE $this->name: " . implode(', ', $this->columns);
        }
    }
}

namespace Doctrine\DBAL {
    class Connection
    {
        public array $said = [];
        public bool $inTransaction = false;
        public ?\Exception $thrown = null;
        private ?string $expression = null;
        public readonly \PDO $pdo;

        public function __construct(private object $platform, private array $parameters = [])
        {
            $this->pdo = new \PDO('sqlite::memory:');
        }

        public function getParams(): array
        {
            return $this->parameters;
        }

        public function getDatabasePlatform(): object
        {
            return $this->platform;
        }

        public function isTransactionActive(): bool
        {
            return $this->inTransaction;
        }

        private function run(string $sql, array $parameters): \PDOStatement
        {
            $this->said[] = $sql;
            if ($this->thrown !== null) {
                throw $this->thrown;
            }
            if (str_starts_with($sql, 'CREATE TABLE lock_keys: ')) {
                $sql = 'CREATE TABLE lock_keys (key_id TEXT PRIMARY KEY, key_token TEXT, key_expiration INTEGER)';
            }
            // whatever stands for the time
            $sql = preg_replace('/\(CAST\(systimestamp.*?SSSSS\.FF\'\)\)|CAST\(DATEDIFF_BIG.*?\/ 1000\.0|CAST\(EXTRACT.*?PRECISION\)/', 'unixepoch()', $sql);
            $sql = preg_replace('/CEIL(ING)?/i', '', $sql);
            try {
                $statement = $this->pdo->prepare(str_replace('unixepoch()', (string) time(), $sql));
            } catch (\PDOException $e) {
                throw str_contains($e->getMessage(), 'no such table') ? new Exception\TableNotFoundException('none', 0, $e) : $e;
            }
            $statement->execute($parameters);
            return $statement;
        }

        public function executeStatement(string $sql, array $parameters = []): int
        {
            return $this->run($sql, $parameters)->rowCount();
        }

        public function fetchOne(string $sql, array $parameters = []): mixed
        {
            return $this->run($sql, $parameters)->fetchColumn();
        }

        public function told(): string
        {
            $said = implode("\n", $this->said) . "\n";
            $this->said = [];
            return preg_replace('/\b1\d{9}(\.\d{6})?\b/', 'TIME', $said);
        }
    }
}

namespace {
    require __DIR__ . '/../../utils/phpt.inc';

    use Doctrine\DBAL\Connection;
    use Doctrine\DBAL\Platforms\{DB2Platform, OraclePlatform, PostgreSQLPlatform, SQLServerPlatform};
    use Latch\{Key, Lock};
    use Latch\Store\DoctrineDbalStore;

    foreach ([OraclePlatform::class, SQLServerPlatform::class, PostgreSQLPlatform::class, DB2Platform::class] as $platform) {
        echo '-- ', substr(strrchr($platform, '\\'), 1), "\n";
        $connection = new Connection(new $platform());
        $store = new DoctrineDbalStore($connection, [], 0);
        check_same([], $connection->said, 'nothing is sent before the first request');
        $lock = new Lock($key = new Key('r'), $store, 30);
        check($lock->acquire(), 'acquired');
        echo $connection->told();
        check(!(new Lock(new Key('r'), $store, 30))->acquire(), 'exclusive');
        echo preg_replace('/[^\n]*INSERT[^\n]*/', 'INSERT …', $connection->told());
        $lock->refresh(60);
        echo $connection->told();
        check($store->exists($key) && $lock->acquire(), 'held');
        check(abs($connection->pdo->query('SELECT key_expiration FROM lock_keys')->fetchColumn() - time() - 30) <= 2, 'the TTL');
        $connection->pdo->exec('UPDATE lock_keys SET key_expiration = 5');
        check(!$store->exists($key), 'expired');
        check_same('Latch\Exception\LockConflictedException: ', outcome(fn () => $store->putOffExpiration($key, 5)), 'too late');
        (new DoctrineDbalStore($connection, [], 1))->save($other = new Key('s'));
        check_same(1, (int) $connection->pdo->query('SELECT count(*) FROM lock_keys')->fetchColumn(), 'pruned');
        $connection->said = [];
        $store->delete($other);
        echo $connection->told();
    }

    echo "-- failures\n";
    foreach (['inside of a transaction' => true, 'outside' => false] as $where => $inTransaction) {
        foreach ([OraclePlatform::class, SQLServerPlatform::class] as $platform) {
            $connection = new Connection(new $platform());
            $connection->inTransaction = $inTransaction;
            $created = outcome(fn () => (new DoctrineDbalStore($connection))->save(new Key('r'))) === 'NULL';
            check_same(!$inTransaction || $platform === SQLServerPlatform::class, $created, "$platform $where");
        }
    }
    $connection->thrown = new RuntimeException('the network is down');
    $store = new DoctrineDbalStore($connection);
    try {
        $store->save(new Key('r'));
    } catch (Exception $e) {
        echo get_class($e), ': ', $e->getMessage(), ' <- ', $e->getPrevious()->getMessage(), "\n";
    }
    $connection->thrown = null;
    echo outcome(fn () => (new Lock(new Key('r'), $store))->acquireRead()), "\n";
    echo outcome(fn () => (new Lock(new Key('r'), $store, 30))->keepAlive()), "\n";

    echo "-- arguments\n";
    foreach ([
        [$connection, [], 2], [$connection, [], 0.5, 0], [$connection, ['db_table' => 'a b']], [$connection, ['names' => 'both']],
        ['nonsense'], ['mssql://localhost'], ['mysql://:port@localhost:x/'], [null], [new stdClass()],
    ] as $arguments) {
        echo outcome(fn () => new DoctrineDbalStore(...$arguments)), "\n";
    }
    $schema = new Doctrine\DBAL\Schema\Schema();
    check_same($schema, $store->configureSchema($schema, fn (Closure $execute) => $execute('SELECT 1') > 0), 'another database');
    check(!$schema->hasTable('lock_keys'), 'another database');
    check_same($schema, $store->configureSchema($schema, fn (Closure $execute) => true), 'the schema of an older DBAL');
    echo implode("\n", $schema->toSql(new DB2Platform())), "\n";
    foreach ([[$schema], [$schema, 'x'], [new stdClass(), fn () => true]] as $arguments) {
        echo outcome(fn () => $store->configureSchema(...$arguments)), "\n";
    }
    echo outcome(fn () => $store->putOffExpiration(new Key('r'), 0.5)), "\n";
    foreach (['pdo_sqlite', 'sqlite3'] as $driver) {
        $known = new Connection(new DB2Platform(), ['driver' => $driver]);
        (new DoctrineDbalStore($known))->save($key = new Key('r'));
        check(str_contains($known->said[0], 'ON CONFLICT (key_id) DO UPDATE'), "$driver has the engine's statements");
    }
}
--EXPECT--
-- OraclePlatform
INSERT INTO lock_keys (key_id, key_token, key_expiration) VALUES (?, ?, CEIL((CAST(systimestamp AT TIME ZONE 'UTC' AS DATE) - DATE '1970-01-01') * 86400 + TO_NUMBER(TO_CHAR(systimestamp AT TIME ZONE 'UTC', 'SSSSS.FF')) + 30.000))
CREATE TABLE lock_keys: key_id string {"length":64}, key_token string {"length":44}, key_expiration integer {"unsigned":true}, PRIMARY KEY key_id
INSERT INTO lock_keys (key_id, key_token, key_expiration) VALUES (?, ?, CEIL((CAST(systimestamp AT TIME ZONE 'UTC' AS DATE) - DATE '1970-01-01') * 86400 + TO_NUMBER(TO_CHAR(systimestamp AT TIME ZONE 'UTC', 'SSSSS.FF')) + 30.000))
INSERT …
UPDATE lock_keys SET key_expiration = CEIL((CAST(systimestamp AT TIME ZONE 'UTC' AS DATE) - DATE '1970-01-01') * 86400 + TO_NUMBER(TO_CHAR(systimestamp AT TIME ZONE 'UTC', 'SSSSS.FF')) + 30.000), key_token = ? WHERE key_id = ? AND (key_token = ? OR key_expiration <= (CAST(systimestamp AT TIME ZONE 'UTC' AS DATE) - DATE '1970-01-01') * 86400 + TO_NUMBER(TO_CHAR(systimestamp AT TIME ZONE 'UTC', 'SSSSS.FF')))
SELECT 1 FROM lock_keys WHERE key_id = ? AND key_token = ? AND key_expiration > (CAST(systimestamp AT TIME ZONE 'UTC' AS DATE) - DATE '1970-01-01') * 86400 + TO_NUMBER(TO_CHAR(systimestamp AT TIME ZONE 'UTC', 'SSSSS.FF'))
UPDATE lock_keys SET key_expiration = CEIL((CAST(systimestamp AT TIME ZONE 'UTC' AS DATE) - DATE '1970-01-01') * 86400 + TO_NUMBER(TO_CHAR(systimestamp AT TIME ZONE 'UTC', 'SSSSS.FF')) + 60.000), key_token = ? WHERE key_id = ? AND key_token = ? AND key_expiration > (CAST(systimestamp AT TIME ZONE 'UTC' AS DATE) - DATE '1970-01-01') * 86400 + TO_NUMBER(TO_CHAR(systimestamp AT TIME ZONE 'UTC', 'SSSSS.FF'))
DELETE FROM lock_keys WHERE key_id = ? AND key_token = ?
-- SQLServerPlatform
INSERT INTO lock_keys (key_id, key_token, key_expiration) VALUES (?, ?, CEILING(CAST(DATEDIFF_BIG(ms, '1970-01-01', SYSUTCDATETIME()) AS FLOAT) / 1000.0 + 30.000))
CREATE TABLE lock_keys: key_id string {"length":64}, key_token string {"length":44}, key_expiration integer {"unsigned":true}, PRIMARY KEY key_id
INSERT INTO lock_keys (key_id, key_token, key_expiration) VALUES (?, ?, CEILING(CAST(DATEDIFF_BIG(ms, '1970-01-01', SYSUTCDATETIME()) AS FLOAT) / 1000.0 + 30.000))
INSERT …
UPDATE lock_keys SET key_expiration = CEILING(CAST(DATEDIFF_BIG(ms, '1970-01-01', SYSUTCDATETIME()) AS FLOAT) / 1000.0 + 30.000), key_token = ? WHERE key_id = ? AND (key_token = ? OR key_expiration <= CAST(DATEDIFF_BIG(ms, '1970-01-01', SYSUTCDATETIME()) AS FLOAT) / 1000.0)
SELECT 1 FROM lock_keys WHERE key_id = ? AND key_token = ? AND key_expiration > CAST(DATEDIFF_BIG(ms, '1970-01-01', SYSUTCDATETIME()) AS FLOAT) / 1000.0
UPDATE lock_keys SET key_expiration = CEILING(CAST(DATEDIFF_BIG(ms, '1970-01-01', SYSUTCDATETIME()) AS FLOAT) / 1000.0 + 60.000), key_token = ? WHERE key_id = ? AND key_token = ? AND key_expiration > CAST(DATEDIFF_BIG(ms, '1970-01-01', SYSUTCDATETIME()) AS FLOAT) / 1000.0
DELETE FROM lock_keys WHERE key_id = ? AND key_token = ?
-- PostgreSQLPlatform
INSERT INTO lock_keys (key_id, key_token, key_expiration) VALUES (?, ?, ceil(CAST(EXTRACT(epoch FROM clock_timestamp()) AS DOUBLE PRECISION) + 30.000)) ON CONFLICT DO NOTHING
CREATE TABLE lock_keys: key_id string {"length":64}, key_token string {"length":44}, key_expiration integer {"unsigned":true}, PRIMARY KEY key_id
INSERT INTO lock_keys (key_id, key_token, key_expiration) VALUES (?, ?, ceil(CAST(EXTRACT(epoch FROM clock_timestamp()) AS DOUBLE PRECISION) + 30.000)) ON CONFLICT DO NOTHING
INSERT …
UPDATE lock_keys SET key_expiration = ceil(CAST(EXTRACT(epoch FROM clock_timestamp()) AS DOUBLE PRECISION) + 30.000), key_token = ? WHERE key_id = ? AND (key_token = ? OR key_expiration <= CAST(EXTRACT(epoch FROM clock_timestamp()) AS DOUBLE PRECISION))
SELECT 1 FROM lock_keys WHERE key_id = ? AND key_token = ? AND key_expiration > CAST(EXTRACT(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)
UPDATE lock_keys SET key_expiration = ceil(CAST(EXTRACT(epoch FROM clock_timestamp()) AS DOUBLE PRECISION) + 60.000), key_token = ? WHERE key_id = ? AND key_token = ? AND key_expiration > CAST(EXTRACT(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)
DELETE FROM lock_keys WHERE key_id = ? AND key_token = ?
-- DB2Platform
INSERT INTO lock_keys (key_id, key_token, key_expiration) VALUES (?, ?, TIME)
CREATE TABLE lock_keys: key_id string {"length":64}, key_token string {"length":44}, key_expiration integer {"unsigned":true}, PRIMARY KEY key_id
INSERT INTO lock_keys (key_id, key_token, key_expiration) VALUES (?, ?, TIME)
INSERT …
UPDATE lock_keys SET key_expiration = TIME, key_token = ? WHERE key_id = ? AND (key_token = ? OR key_expiration <= TIME)
SELECT 1 FROM lock_keys WHERE key_id = ? AND key_token = ? AND key_expiration > TIME
UPDATE lock_keys SET key_expiration = TIME, key_token = ? WHERE key_id = ? AND key_token = ? AND key_expiration > TIME
DELETE FROM lock_keys WHERE key_id = ? AND key_token = ?
-- failures
Latch\Exception\LockStorageException: Failed to store the "r" lock: the network is down. <- the network is down
false
Latch\Exception\InvalidArgumentException: The "r" lock cannot be kept alive in a Latch\Store\DoctrineDbalStore: the doctrine-dbal store cannot do that: its statements are sent by PHP code, which no other thread can call; call refresh() in time.
-- arguments
Latch\Exception\InvalidArgumentException: "Latch\Store\DoctrineDbalStore::__construct" requires gcProbability between 0 and 1, "2.000000" given.
Latch\Exception\InvalidTtlException: "Latch\Store\DoctrineDbalStore::__construct()" expects a strictly positive TTL, "0" given.
Latch\Exception\InvalidArgumentException: Latch\Store\DoctrineDbalStore::__construct(): Argument #2 ($options) has an option "db_table" that is not the name of a table, as in "lock_keys" or "app.lock_keys"
Latch\Exception\InvalidArgumentException: Latch\Store\DoctrineDbalStore::__construct(): Argument #2 ($options) has an option "names" that is for PostgreSQL, MySQL and SQLite alone
Latch\Exception\InvalidArgumentException: Failed to parse the DSN. Try running "composer require doctrine/dbal".
Latch\Exception\InvalidArgumentException: Failed to parse the DSN. Try running "composer require doctrine/dbal".
Latch\Exception\InvalidArgumentException: Latch\Store\DoctrineDbalStore::__construct(): Argument #1 ($connOrUrl) is not usable: invalid DSN: the port is a number from 1 to 65535; an IPv6 address stands in brackets, as in "[::1]:6379"
TypeError: Latch\Store\DoctrineDbalStore::__construct(): Argument #1 ($connOrUrl) must be of type Doctrine\DBAL\Connection|string, null given
TypeError: Latch\Store\DoctrineDbalStore::__construct(): Argument #1 ($connOrUrl) must be of type Doctrine\DBAL\Connection|string, stdClass given
CREATE TABLE lock_keys: key_id string {"length":64}, key_token string {"length":44}, key_expiration integer {"unsigned":true}, PRIMARY KEY key_id
ArgumentCountError: Latch\Store\DoctrineDbalStore::configureSchema() expects exactly 2 arguments, 1 given
TypeError: Latch\Store\DoctrineDbalStore::configureSchema(): Argument #2 ($isSameDatabase) must be of type Closure, string given
TypeError: Latch\Store\DoctrineDbalStore::configureSchema(): Argument #1 ($schema) must be of type Doctrine\DBAL\Schema\Schema, stdClass given
Latch\Exception\InvalidTtlException: "Latch\Store\DoctrineDbalStore::putOffExpiration()" expects a TTL greater or equals to 1 second. Got "0.5".
