--TEST--
PostgreSqlStore and DoctrineDbalPostgreSqlStore: what cannot be used is refused, in Symfony's words, without a password
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\Store\{DoctrineDbalPostgreSqlStore, PostgreSqlStore};

$refusal = function (callable $make): string {
    try {
        $make();
        return 'nothing';
    } catch (Throwable $e) {
        check(!str_contains($e . json_encode($e->getTrace()), 'SECRET'), "no password is shown: $e");
        return get_class($e) . ': ' . $e->getMessage();
    }
};
$dsn = 'pgsql:host=127.0.0.1;password=SECRET';
foreach ([
    fn () => new PostgreSqlStore('mysql:host=127.0.0.1;password=SECRET'),
    fn () => new PostgreSqlStore('mysql+advisory://:SECRET@127.0.0.1'),
    fn () => new PostgreSqlStore('sqlite::memory:'),
    fn () => new PostgreSqlStore(''),
    fn () => new PostgreSqlStore('SECRET'),
    fn () => new PostgreSqlStore("pgsql:host=a\0b;password=SECRET"),
    fn () => new PostgreSqlStore('postgresql://user:SECRET@host:port/'),
    fn () => new PostgreSqlStore($dsn, ['timeout' => 'soon']),
    fn () => new PostgreSqlStore($dsn, ['timeout' => -1]),
    fn () => new PostgreSqlStore($dsn, ['digest' => 'md5']),
    fn () => new PostgreSqlStore($dsn, ['digest' => ['crc32']]),
    fn () => new PostgreSqlStore($dsn, ['digest' => "crc32\0"]),
    fn () => new PostgreSqlStore($dsn, ['no_such_option' => 'SECRET']),
    fn () => new PostgreSqlStore($dsn, ['db_password' => "SECRET\0"]),
    fn () => new PostgreSqlStore($dsn, ['db_connection_options' => [2 => 'soon']]),
    fn () => new PostgreSqlStore([]),
    fn () => new PostgreSqlStore(new stdClass()),
    fn () => new PostgreSqlStore(null),
    fn () => new PostgreSqlStore(),
    fn () => new PostgreSqlStore($dsn, 'options'),
    fn () => new DoctrineDbalPostgreSqlStore($dsn),
    fn () => new DoctrineDbalPostgreSqlStore('mysql://:SECRET@127.0.0.1'),
    fn () => new DoctrineDbalPostgreSqlStore('sqlite3:///:memory:'),
    fn () => new DoctrineDbalPostgreSqlStore('postgresql://user:SECRET@host:port/'),
    fn () => new DoctrineDbalPostgreSqlStore(new stdClass()),
] as $make) {
    echo preg_replace('/ options are .*| known are .*/', '', $refusal($make)), "\n";
}

/* These mean nothing, and are accepted, or mean no more than if they were missing. */
foreach ([
    [], ['db_username' => '', 'db_password' => null], ['db_table' => 'lock_keys'], ['db_connection_options' => 'no array'],
    ['db_connection_options' => [3 => 2, 12 => true, 1000 => [], 'text' => 'x']], [0 => 'no name'], ['timeout' => null],
    ['keepalives' => false], ['sslmode' => 'prefer', 'timeout' => 2, 'read_timeout' => '3.5'],
] as $options) {
    check_same('nothing', $refusal(fn () => new PostgreSqlStore($dsn, $options)), json_encode($options));
}
foreach (['pgsql+advisory', 'postgres', 'postgresql+advisory'] as $scheme) {
    check_same('nothing', $refusal(fn () => new PostgreSqlStore("$scheme://user:SECRET@127.0.0.1/test")), $scheme);
    check_same('nothing', $refusal(fn () => new DoctrineDbalPostgreSqlStore("$scheme://user:SECRET@127.0.0.1/test")), $scheme);
}

$store = new PostgreSqlStore($dsn, ['db_password' => 'SECRET']);
check(!str_contains(print_r($store, true) . var_export($store, true), 'SECRET'), 'a dump shows no password');
echo outcome(fn () => serialize($store)), "\n";
echo outcome(fn () => clone $store), "\n";
echo outcome(fn () => $store->__construct($dsn)), "\n";
echo outcome(fn () => (new ReflectionClass(PostgreSqlStore::class))->newInstanceWithoutConstructor()->save(new Latch\Key('x'))), "\n";
$reflection = new ReflectionMethod(PostgreSqlStore::class, '__construct');
echo implode(', ', array_map(fn ($parameter) => $parameter->getType() . " $parameter->name", $reflection->getParameters())), "\n";
$reflection = new ReflectionMethod(DoctrineDbalPostgreSqlStore::class, '__construct');
echo implode(', ', array_map(fn ($parameter) => $parameter->getType() . " $parameter->name", $reflection->getParameters())), "\n";
echo "done\n";
--EXPECT--
Latch\Exception\InvalidArgumentException: The adapter "Latch\Store\PostgreSqlStore" does not support the "mysql" driver.
Latch\Exception\InvalidArgumentException: The adapter "Latch\Store\PostgreSqlStore" does not support the "mysql" driver.
Latch\Exception\InvalidArgumentException: The adapter "Latch\Store\PostgreSqlStore" does not support the "sqlite" driver.
Latch\Exception\InvalidArgumentException: Latch\Store\PostgreSqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid PostgreSQL DSN: it is written as in "pgsql:host=localhost;dbname=test" or "postgresql://user@localhost/test"
Latch\Exception\InvalidArgumentException: Latch\Store\PostgreSqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid PostgreSQL DSN: it is written as in "pgsql:host=localhost;dbname=test" or "postgresql://user@localhost/test"
Latch\Exception\InvalidArgumentException: Latch\Store\PostgreSqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid PostgreSQL DSN: it must not contain a NUL byte
Latch\Exception\InvalidArgumentException: Latch\Store\PostgreSqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid DSN: the port is a number from 1 to 65535; an IPv6 address stands in brackets, as in "[::1]:6379"
Latch\Exception\InvalidArgumentException: Latch\Store\PostgreSqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid PostgreSQL DSN: the option "timeout" is a number of seconds from 0.001 to 86400, such as "2.5"
Latch\Exception\InvalidArgumentException: Latch\Store\PostgreSqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid PostgreSQL DSN: the option "timeout" is a number of seconds from 0.001 to 86400, such as "2.5"
Latch\Exception\InvalidArgumentException: Latch\Store\PostgreSqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid PostgreSQL DSN: the option "digest" is crc32 or sha256
Latch\Exception\InvalidArgumentException: Latch\Store\PostgreSqlStore::__construct(): Argument #2 ($options) has an option "digest" that is not a text, a number or a boolean
Latch\Exception\InvalidArgumentException: Latch\Store\PostgreSqlStore::__construct(): Argument #2 ($options) has an option "digest" that has a NUL byte
Latch\Exception\InvalidArgumentException: Latch\Store\PostgreSqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid PostgreSQL DSN: the option "no_such_option" is unknown;
Latch\Exception\InvalidArgumentException: Latch\Store\PostgreSqlStore::__construct(): Argument #2 ($options) has an option "password" that has a NUL byte
Latch\Exception\InvalidArgumentException: Latch\Store\PostgreSqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid PostgreSQL DSN: the option "timeout" is a number of seconds from 0.001 to 86400, such as "2.5"
TypeError: Latch\Store\PostgreSqlStore::__construct(): Argument #1 ($connOrDsn) must be of type PDO|string, array given
TypeError: Latch\Store\PostgreSqlStore::__construct(): Argument #1 ($connOrDsn) must be of type PDO|string, stdClass given
TypeError: Latch\Store\PostgreSqlStore::__construct(): Argument #1 ($connOrDsn) must be of type PDO|string, null given
ArgumentCountError: Latch\Store\PostgreSqlStore::__construct() expects at least 1 argument, 0 given
TypeError: Latch\Store\PostgreSqlStore::__construct(): Argument #2 ($options) must be of type array, string given
Latch\Exception\InvalidArgumentException: DSN is invalid for Doctrine DBAL.
Latch\Exception\InvalidArgumentException: The adapter "Latch\Store\DoctrineDbalPostgreSqlStore" does not support the "mysql" driver.
Latch\Exception\InvalidArgumentException: The adapter "Latch\Store\DoctrineDbalPostgreSqlStore" does not support the "sqlite3" driver.
Latch\Exception\InvalidArgumentException: Latch\Store\DoctrineDbalPostgreSqlStore::__construct(): Argument #1 ($connOrUrl) is not usable: invalid DSN: the port is a number from 1 to 65535; an IPv6 address stands in brackets, as in "[::1]:6379"
TypeError: Latch\Store\DoctrineDbalPostgreSqlStore::__construct(): Argument #1 ($connOrUrl) must be of type Doctrine\DBAL\Connection|string, stdClass given
Exception: Serialization of 'Latch\Store\PostgreSqlStore' is not allowed
Error: Trying to clone an uncloneable object of class Latch\Store\PostgreSqlStore
Error: Latch\Store\PostgreSqlStore is constructed already
Error: Latch\Store\PostgreSqlStore::__construct() was not called; call it in your constructor
PDO|string connOrDsn, array options
Doctrine\DBAL\Connection|string connOrUrl
done
