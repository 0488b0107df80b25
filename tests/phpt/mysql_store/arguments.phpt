--TEST--
MysqlStore and DoctrineDbalMysqlStore: what cannot be used is refused, in Symfony's words, without a password
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\Store\{DoctrineDbalMysqlStore, MysqlStore};

$refusal = function (callable $make): string {
    try {
        $make();
        return 'nothing';
    } catch (Throwable $e) {
        check(!str_contains($e . json_encode($e->getTrace()), 'SECRET'), "no password is shown: $e");
        return get_class($e) . ': ' . $e->getMessage();
    }
};
$dsn = 'mysql:host=127.0.0.1;password=SECRET';
foreach ([
    fn () => new MysqlStore('pgsql:host=127.0.0.1;password=SECRET'),
    fn () => new MysqlStore('pgsql+advisory://:SECRET@127.0.0.1'),
    fn () => new MysqlStore('sqlite::memory:'),
    fn () => new MysqlStore(''),
    fn () => new MysqlStore('SECRET'),
    fn () => new MysqlStore("mysql:host=a\0b;password=SECRET"),
    fn () => new MysqlStore('mysql://user:SECRET@host:port/'),
    fn () => new MysqlStore($dsn, ['timeout' => 'soon']),
    fn () => new MysqlStore($dsn, ['timeout' => -1]),
    fn () => new MysqlStore($dsn, ['ssl_mode' => 'maybe']),
    fn () => new MysqlStore($dsn, ['charset' => ['utf8']]),
    fn () => new MysqlStore($dsn, ['charset' => "utf8\0"]),
    fn () => new MysqlStore($dsn, ['no_such_option' => 'SECRET']),
    fn () => new MysqlStore($dsn, ['db_password' => "SECRET\0"]),
    fn () => new MysqlStore($dsn, ['db_connection_options' => [2 => 'soon']]),
    fn () => new MysqlStore([]),
    fn () => new MysqlStore(new stdClass()),
    fn () => new MysqlStore(null),
    fn () => new MysqlStore(),
    fn () => new MysqlStore($dsn, 'options'),
    fn () => new DoctrineDbalMysqlStore($dsn),
    fn () => new DoctrineDbalMysqlStore('postgresql://:SECRET@127.0.0.1'),
    fn () => new DoctrineDbalMysqlStore('sqlite3:///:memory:'),
    fn () => new DoctrineDbalMysqlStore('mysql://user:SECRET@host:port/'),
    fn () => new DoctrineDbalMysqlStore(new stdClass()),
] as $make) {
    echo preg_replace('/ options are .*| known are .*/', '', $refusal($make)), "\n";
}

/* These mean nothing, and are accepted, or mean no more than if they were missing. */
foreach ([
    [], ['db_username' => '', 'db_password' => null], ['db_table' => 'lock_keys'], ['db_connection_options' => 'no array'],
    ['db_connection_options' => [3 => 2, 12 => true, 1000 => [], 'text' => 'x']], [0 => 'no name'], ['timeout' => null],
    ['ssl_verify_server_cert' => false], ['ssl_mode' => 'required', 'timeout' => 2, 'read_timeout' => '3.5'],
    ['db_connection_options' => [1009 => '/etc/ssl/ca.pem', 1014 => true]],
] as $options) {
    check_same('nothing', $refusal(fn () => new MysqlStore($dsn, $options)), json_encode($options));
}
foreach (['mysql+advisory', 'mysql', 'mysql2'] as $scheme) {
    check_same('nothing', $refusal(fn () => new MysqlStore("$scheme://user:SECRET@127.0.0.1/test")), $scheme);
    check_same('nothing', $refusal(fn () => new DoctrineDbalMysqlStore("$scheme://user:SECRET@127.0.0.1/test")), $scheme);
}

$store = new MysqlStore($dsn, ['db_password' => 'SECRET']);
check(!str_contains(print_r($store, true) . var_export($store, true), 'SECRET'), 'a dump shows no password');
echo outcome(fn () => serialize($store)), "\n";
echo outcome(fn () => clone $store), "\n";
echo outcome(fn () => $store->__construct($dsn)), "\n";
echo outcome(fn () => (new ReflectionClass(MysqlStore::class))->newInstanceWithoutConstructor()->save(new Latch\Key('x'))), "\n";
$reflection = new ReflectionMethod(MysqlStore::class, '__construct');
echo implode(', ', array_map(fn ($parameter) => $parameter->getType() . " $parameter->name", $reflection->getParameters())), "\n";
$reflection = new ReflectionMethod(DoctrineDbalMysqlStore::class, '__construct');
echo implode(', ', array_map(fn ($parameter) => $parameter->getType() . " $parameter->name", $reflection->getParameters())), "\n";
echo "done\n";
--EXPECT--
Latch\Exception\InvalidArgumentException: The adapter "Latch\Store\MysqlStore" does not support the "pgsql" driver.
Latch\Exception\InvalidArgumentException: The adapter "Latch\Store\MysqlStore" does not support the "pgsql" driver.
Latch\Exception\InvalidArgumentException: The adapter "Latch\Store\MysqlStore" does not support the "sqlite" driver.
Latch\Exception\InvalidArgumentException: Latch\Store\MysqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid MySQL DSN: it is written as in "mysql:host=localhost;dbname=test" or "mysql://user@localhost/test"
Latch\Exception\InvalidArgumentException: Latch\Store\MysqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid MySQL DSN: it is written as in "mysql:host=localhost;dbname=test" or "mysql://user@localhost/test"
Latch\Exception\InvalidArgumentException: Latch\Store\MysqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid MySQL DSN: it must not contain a NUL byte
Latch\Exception\InvalidArgumentException: Latch\Store\MysqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid DSN: the port is a number from 1 to 65535; an IPv6 address stands in brackets, as in "[::1]:6379"
Latch\Exception\InvalidArgumentException: Latch\Store\MysqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid MySQL DSN: the option "timeout" is a number of seconds from 0.001 to 86400, such as "2.5"
Latch\Exception\InvalidArgumentException: Latch\Store\MysqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid MySQL DSN: the option "timeout" is a number of seconds from 0.001 to 86400, such as "2.5"
Latch\Exception\InvalidArgumentException: Latch\Store\MysqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid MySQL DSN: the option "ssl_mode" is disabled, required or verify_identity
Latch\Exception\InvalidArgumentException: Latch\Store\MysqlStore::__construct(): Argument #2 ($options) has an option "charset" that is not a text, a number or a boolean
Latch\Exception\InvalidArgumentException: Latch\Store\MysqlStore::__construct(): Argument #2 ($options) has an option "charset" that has a NUL byte
Latch\Exception\InvalidArgumentException: Latch\Store\MysqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid MySQL DSN: the option "no_such_option" is unknown;
Latch\Exception\InvalidArgumentException: Latch\Store\MysqlStore::__construct(): Argument #2 ($options) has an option "password" that has a NUL byte
Latch\Exception\InvalidArgumentException: Latch\Store\MysqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid MySQL DSN: the option "timeout" is a number of seconds from 0.001 to 86400, such as "2.5"
TypeError: Latch\Store\MysqlStore::__construct(): Argument #1 ($connOrDsn) must be of type PDO|string, array given
TypeError: Latch\Store\MysqlStore::__construct(): Argument #1 ($connOrDsn) must be of type PDO|string, stdClass given
TypeError: Latch\Store\MysqlStore::__construct(): Argument #1 ($connOrDsn) must be of type PDO|string, null given
ArgumentCountError: Latch\Store\MysqlStore::__construct() expects at least 1 argument, 0 given
TypeError: Latch\Store\MysqlStore::__construct(): Argument #2 ($options) must be of type array, string given
Latch\Exception\InvalidArgumentException: DSN is invalid for Doctrine DBAL.
Latch\Exception\InvalidArgumentException: The adapter "Latch\Store\DoctrineDbalMysqlStore" does not support the "postgresql" driver.
Latch\Exception\InvalidArgumentException: The adapter "Latch\Store\DoctrineDbalMysqlStore" does not support the "sqlite3" driver.
Latch\Exception\InvalidArgumentException: Latch\Store\DoctrineDbalMysqlStore::__construct(): Argument #1 ($connOrUrl) is not usable: invalid DSN: the port is a number from 1 to 65535; an IPv6 address stands in brackets, as in "[::1]:6379"
TypeError: Latch\Store\DoctrineDbalMysqlStore::__construct(): Argument #1 ($connOrUrl) must be of type Doctrine\DBAL\Connection|string, stdClass given
Exception: Serialization of 'Latch\Store\MysqlStore' is not allowed
Error: Trying to clone an uncloneable object of class Latch\Store\MysqlStore
Error: Latch\Store\MysqlStore is constructed already
Error: Latch\Store\MysqlStore::__construct() was not called; call it in your constructor
PDO|string connOrDsn, array options
Doctrine\DBAL\Connection|string connOrUrl
done
