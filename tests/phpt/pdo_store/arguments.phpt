--TEST--
PdoStore: what cannot be used is refused before anything is sent, in Symfony's words and order, without a password
--INI--
zend.exception_ignore_args=0
--EXTENSIONS--
pdo
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, LockFactory};
use Latch\Store\PdoStore;

$refusal = function (callable $make): string {
    try {
        $make();
        return 'nothing';
    } catch (Throwable $e) {
        check(!str_contains($e . json_encode($e->getTrace(), JSON_PARTIAL_OUTPUT_ON_ERROR), 'SECRET'), "no password is shown: $e");
        return substr(strrchr('\\' . $e::class, '\\'), 1) . ': ' . $e->getMessage();
    }
};
$pdo = new PDO('sqlite::memory:');
$silent = new PDO('sqlite::memory:', options: [PDO::ATTR_ERRMODE => PDO::ERRMODE_SILENT]);

echo "-- each\n";
foreach ([
    [$pdo, [], -0.1], [$pdo, [], 1.1], [$pdo, [], NAN], [$pdo, [], INF],
    [$pdo, [], 0.5, 0], [$pdo, [], 0.5, -1], [$pdo, [], 0.5, 10_000_000_000],
    [$silent], ['SECRET'], [''], ["sqlite:\0SECRET"], [':SECRET'], ['mysql://user:SECRET@localhost/'],
    ['sqlite::memory:', ['db_username' => 1]], ['sqlite::memory:', ['db_password' => ['SECRET']]],
    ['sqlite::memory:', ['db_connection_options' => 'SECRET']],
    [null], [[]], [new stdClass()], [$pdo, 'options'], [$pdo, [], 'x'], [$pdo, [], 0.5, 'x'], [],
] as $arguments) {
    echo $refusal(fn () => new PdoStore(...$arguments)), "\n";
}

echo "-- the first of several\n";
echo $refusal(fn () => new PdoStore([], ['db_table' => ''], 2, 0)), "\n";
echo $refusal(fn () => new PdoStore($silent, ['db_table' => ''], 2, 0)), "\n";
echo $refusal(fn () => new PdoStore($silent, ['db_table' => ''], 1, 0)), "\n";
echo $refusal(fn () => new PdoStore($silent, ['db_table' => ''])), "\n";

echo "-- names\n";
foreach (['', 'HASH', 1, ['hash']] as $names) {
    echo $refusal(fn () => new PdoStore($pdo, ['names' => $names])), "\n";
}
echo $refusal(fn () => new PdoStore('oci:dbname=x', ['names' => 'hash'])), "\n";
foreach ([
    ['layout' => ''], ['layout' => 'Laravel'], ['layout' => 1], ['prefix' => 'x'], ['layout' => 'symfony', 'prefix' => ''],
    ['layout' => 'laravel', 'prefix' => 1], ['layout' => 'laravel', 'prefix' => "a\0"],
    ['layout' => 'laravel', 'prefix' => str_repeat('a', 191)], ['layout' => 'laravel', 'names' => 'hash'],
] as $options) {
    echo $refusal(fn () => new PdoStore($pdo, $options)), "\n";
}
echo $refusal(fn () => new PdoStore('oci:dbname=x', ['layout' => 'laravel'])), "\n";
check_same([false, 'hash'], [@ini_set('latch.lock_names', 'HASH'), ini_get('latch.lock_names')], 'the setting is checked');
check_same('latch.lock_names must be "hash", "plain" or "both"', error_get_last()['message'], 'the setting is checked');
foreach (['db_table', 'db_id_col', 'db_token_col', 'db_expiration_col'] as $option) {
    echo $refusal(fn () => new PdoStore($pdo, [$option => ''])), "\n";
    $message = $refusal(fn () => new PdoStore($pdo, [$option => '']));
    foreach ([
        ' ', 'a b', 'a;b', 'a; DROP TABLE users', "a'b", 'a"b', '"a', '"a"b', '""', '"a\\"', '`a', '`a``b`', '[a', 'a]', "a\0", "\0", 'a--',
        'a)', '.a', 'a.', 'a..b', "a\n", str_repeat('a', 191), 5, 1.5, true, ['a'], new stdClass(),
    ] as $name) {
        check_same($message, $refusal(fn () => new PdoStore($pdo, [$option => $name])), "$option " . json_encode($name));
    }
    foreach (['a', 'Key_1', '"a b"', '`a b`', '"select"', 'größe', null] as $name) {
        check_same('nothing', $refusal(fn () => new PdoStore($pdo, [$option => $name])), "$option " . json_encode($name));
    }
    $schema = $refusal(fn () => new PdoStore($pdo, [$option => 'main."lock keys"']));
    check_same($option === 'db_table' ? 'nothing' : $message, $schema, "$option with a schema");
}

echo "-- accepted\n";
foreach ([[0], [0.0], [1], [1.0, 1], [0.01, 300], [0.5, 86400 * 365]] as $numbers) {
    check_same('nothing', $refusal(fn () => new PdoStore($pdo, [], ...$numbers)), json_encode($numbers));
}
foreach ([[], ['what' => 'ever'], ['names' => 'hash'], ['names' => 'plain'], ['names' => 'both'], ['names' => null], ['layout' => null, 'prefix' => null],
    ['layout' => 'symfony'], ['layout' => 'laravel', 'names' => null], ['layout' => 'laravel', 'prefix' => str_repeat('a', 190)], ['db_username' => null, 'db_password' => null, 'db_connection_options' => null], [0 => 'x']] as $options) {
    check_same('nothing', $refusal(fn () => new PdoStore('mysql:host=127.0.0.1;port=1', $options)), json_encode($options));
}

echo "-- TTLs\n";
$store = new PdoStore($pdo);
foreach ([0.5, 0, -1, NAN, INF, -INF, 0.999, 1e10] as $ttl) {
    echo $refusal(fn () => $store->putOffExpiration(new Key('r'), $ttl)), "\n";
}
echo $refusal(fn () => (new LockFactory($store))->createLock('r', 0.5)->acquire()), "\n";
$lock = (new LockFactory($store))->createLock('r', 5);
echo $refusal(fn () => $lock->refresh(0.5)), "\n";
check_same(0, count($pdo->query("SELECT * FROM sqlite_master")->fetchAll()), 'nothing was sent');

echo "-- later\n";
$nowhere = new PdoStore('sqlite:/no/such/folder/SECRET');
check(str_contains($refusal(fn () => (new PdoStore('sqlite:/no/such/folder/x'))->save(new Key('r'))), 'unable to open database file'), 'no file');
echo $refusal(fn () => (new PdoStore('nonsense:password=SECRET'))->save(new Key('r'))), "\n";
echo $refusal(fn () => (new PdoStore('nonsense:password=SECRET'))->createTable()), "\n";
echo $refusal(fn () => $store->__construct($pdo)), "\n";
echo $refusal(fn () => (new ReflectionClass(PdoStore::class))->newInstanceWithoutConstructor()->createTable()), "\n";
echo $refusal(fn () => (new ReflectionClass(PdoStore::class))->newInstanceWithoutConstructor()->save(new Key('r'))), "\n";
echo $refusal(fn () => clone $store), "\n";
echo $refusal(fn () => serialize($store)), "\n";
check(!str_contains(print_r($nowhere, true) . var_export($nowhere, true), 'SECRET'), 'a dump shows no password');
echo implode(', ', array_map(fn ($one) => trim($one->getType() . " $one->name"), (new ReflectionMethod(PdoStore::class, '__construct'))->getParameters())), "\n";
--EXPECT--
-- each
InvalidArgumentException: "Latch\Store\PdoStore::__construct" requires gcProbability between 0 and 1, "-0.100000" given.
InvalidArgumentException: "Latch\Store\PdoStore::__construct" requires gcProbability between 0 and 1, "1.100000" given.
InvalidArgumentException: "Latch\Store\PdoStore::__construct" requires gcProbability between 0 and 1, "nan" given.
InvalidArgumentException: "Latch\Store\PdoStore::__construct" requires gcProbability between 0 and 1, "inf" given.
InvalidTtlException: "Latch\Store\PdoStore::__construct()" expects a strictly positive TTL, "0" given.
InvalidTtlException: "Latch\Store\PdoStore::__construct()" expects a strictly positive TTL, "-1" given.
InvalidTtlException: "Latch\Store\PdoStore::__construct()" expects a TTL that ends before 2038, "10000000000" given.
InvalidArgumentException: "Latch\Store\PdoStore::__construct" requires PDO error mode attribute be set to throw Exceptions (i.e. $pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION)).
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #1 ($connOrDsn) is no DSN of PDO's, as in "mysql:host=localhost;dbname=test"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #1 ($connOrDsn) is no DSN of PDO's, as in "mysql:host=localhost;dbname=test"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #1 ($connOrDsn) has a NUL byte
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #1 ($connOrDsn) is no DSN of PDO's, as in "mysql:host=localhost;dbname=test"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #1 ($connOrDsn) is a URL, which DoctrineDbalStore takes; PDO's DSNs are written as in "mysql:host=localhost;dbname=test"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "db_username" that is not a text
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "db_password" that is not a text
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "db_connection_options" that is not an array
TypeError: Latch\Store\PdoStore::__construct(): Argument #1 ($connOrDsn) must be of type PDO|string, null given
TypeError: Latch\Store\PdoStore::__construct(): Argument #1 ($connOrDsn) must be of type PDO|string, array given
TypeError: Latch\Store\PdoStore::__construct(): Argument #1 ($connOrDsn) must be of type PDO|string, stdClass given
TypeError: Latch\Store\PdoStore::__construct(): Argument #2 ($options) must be of type array, string given
TypeError: Latch\Store\PdoStore::__construct(): Argument #3 ($gcProbability) must be of type float, string given
TypeError: Latch\Store\PdoStore::__construct(): Argument #4 ($initialTtl) must be of type int, string given
ArgumentCountError: Latch\Store\PdoStore::__construct() expects at least 1 argument, 0 given
-- the first of several
TypeError: Latch\Store\PdoStore::__construct(): Argument #1 ($connOrDsn) must be of type PDO|string, array given
InvalidArgumentException: "Latch\Store\PdoStore::__construct" requires gcProbability between 0 and 1, "2.000000" given.
InvalidTtlException: "Latch\Store\PdoStore::__construct()" expects a strictly positive TTL, "0" given.
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "db_table" that is not the name of a table, as in "lock_keys" or "app.lock_keys"
-- names
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "names" that is not "hash", "plain" or "both"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "names" that is not "hash", "plain" or "both"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "names" that is not "hash", "plain" or "both"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "names" that is not "hash", "plain" or "both"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "names" that is for PostgreSQL, MySQL and SQLite alone
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "layout" that is not "symfony" or "laravel"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "layout" that is not "symfony" or "laravel"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "layout" that is not "symfony" or "laravel"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "prefix" that goes with the layout "laravel" alone
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "prefix" that goes with the layout "laravel" alone
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "prefix" that is not a text of up to 190 bytes without a NUL
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "prefix" that is not a text of up to 190 bytes without a NUL
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "prefix" that is not a text of up to 190 bytes without a NUL
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "names" that goes with the layout "symfony" alone
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "layout" that is for PostgreSQL, MySQL and SQLite alone
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "db_table" that is not the name of a table, as in "lock_keys" or "app.lock_keys"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "db_id_col" that is not the name of a column, as in "key_id"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "db_token_col" that is not the name of a column, as in "key_id"
InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "db_expiration_col" that is not the name of a column, as in "key_id"
-- accepted
-- TTLs
InvalidTtlException: "Latch\Store\PdoStore::putOffExpiration()" expects a TTL greater or equals to 1 second. Got "0.5".
InvalidTtlException: "Latch\Store\PdoStore::putOffExpiration()" expects a TTL greater or equals to 1 second. Got "0".
InvalidTtlException: "Latch\Store\PdoStore::putOffExpiration()" expects a TTL greater or equals to 1 second. Got "-1".
InvalidTtlException: "Latch\Store\PdoStore::putOffExpiration()" expects a TTL greater or equals to 1 second. Got "NAN".
InvalidTtlException: "Latch\Store\PdoStore::putOffExpiration()" expects a TTL that ends before 2038. Got "INF".
InvalidTtlException: "Latch\Store\PdoStore::putOffExpiration()" expects a TTL greater or equals to 1 second. Got "-INF".
InvalidTtlException: "Latch\Store\PdoStore::putOffExpiration()" expects a TTL greater or equals to 1 second. Got "0.999".
InvalidTtlException: "Latch\Store\PdoStore::putOffExpiration()" expects a TTL that ends before 2038. Got "10000000000".
LockAcquiringException: Failed to acquire the "r" lock: its TTL must be 1 second or more in a table.
LockAcquiringException: Failed to define an expiration for the "r" lock: its TTL must be 1 second or more in a table.
-- later
LockStorageException: Failed to store the "r" lock: could not find driver.
PDOException: could not find driver
Error: Latch\Store\PdoStore is constructed already
Error: Latch\Store\PdoStore::__construct() was not called; call it in your constructor
Error: Latch\Store\PdoStore::__construct() was not called; call it in your constructor
Error: Trying to clone an uncloneable object of class Latch\Store\PdoStore
Exception: Serialization of 'Latch\Store\PdoStore' is not allowed
PDO|string connOrDsn, array options, float gcProbability, int initialTtl
