--TEST--
StoreFactory under Latch's names: a store for every DSN that Latch can serve, and for nothing else
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\StoreFactory;

class ShopFactory extends StoreFactory
{
}

$directory = temporary_directory();
$none = 'Latch\Exception\InvalidArgumentException: No lock store supports the given DSN: ';
// All that there are, but for URLs beside another form, and for "flock+remove" beside "flock".
$forms = array_merge(...array_column(array_filter(StoreFactory::describe(), fn (array $store) => $store['native']), 'dsns'));
$forms = array_values(preg_grep('~/$|^flock\+~', $forms, PREG_GREP_INVERT));
check_same([], array_diff(['flock', 'semaphore', 'in-memory', 'null', 'redis:', 'rediss:', 'valkey:', 'valkeys:', 'pgsql+advisory:', 'mysql+advisory:', 'mysql:', 'pgsql:', 'sqlite:'], $forms), 'what is known');
$last = array_pop($forms);
$known = '; known are ' . implode(', ', $forms) . " and $last";
foreach ([
    'flock' => 'FlockStore',
    "flock://$directory" => 'FlockStore',
    'flock+remove' => 'FlockStore',
    "flock+remove://$directory" => 'FlockStore',
    'semaphore' => 'SemaphoreStore',
    'semaphore://shop' => 'SemaphoreStore',
    'shm' => 'SharedMemoryStore',
    "shm://$directory/locks" => 'SharedMemoryStore',
    "shm://$directory/more?capacity=100&mode=0660" => 'SharedMemoryStore',
    'in-memory' => 'InMemoryStore',
    'null' => 'NullStore',
    'redis://localhost' => 'RedisStore',
    'redis://localhost?prefix=shop:' => 'RedisStore',
    'valkey:?host[localhost]' => 'RedisStore',
    'pgsql+advisory:host=localhost' => 'PostgreSqlStore',
    'pgsql+advisory://localhost' => 'DoctrineDbalPostgreSqlStore',
    'postgres+advisory://localhost' => 'DoctrineDbalPostgreSqlStore',
    'postgresql+advisory://localhost' => 'DoctrineDbalPostgreSqlStore',
    'mysql+advisory:host=localhost' => 'MysqlStore',
    'mysql+advisory://localhost' => 'DoctrineDbalMysqlStore',
    'sqlite::memory:' => 'PdoStore',
    'mysql:host=localhost' => 'PdoStore',
    'pgsql:host=localhost' => 'PdoStore',
    'mysql://localhost/test' => 'DoctrineDbalStore',
    'mysql2://localhost/test' => 'DoctrineDbalStore',
    'pgsql://localhost/test' => 'DoctrineDbalStore',
    'postgres://localhost/test' => 'DoctrineDbalStore',
    'postgresql://localhost/test' => 'DoctrineDbalStore',
    'oci:dbname=//localhost/test' => 'PdoStore',
    'sqlsrv:server=localhost' => 'PdoStore',
] as $dsn => $class) {
    check_same("Latch\\Store\\$class", StoreFactory::createStore($dsn)::class, $dsn);
    check_same("Latch\\Store\\$class", ShopFactory::createStore($dsn)::class, "$dsn, by a subclass");
}

/* What stands behind the scheme counts. */
$lock = new Lock(new Key('r'), StoreFactory::createStore("flock://$directory"));
check($lock->acquire() && !is_free($directory, 'r'), 'the directory of flock');
$lock->release();
check(file_exists(lock_file($directory, 'r')), 'flock leaves the file');
$lock = new Lock(new Key('r'), StoreFactory::createStore("flock+remove://$directory"));
check($lock->acquire() && !is_free($directory, 'r'), 'the directory of flock+remove');
$lock->release();
check(!file_exists(lock_file($directory, 'r')), 'flock+remove removes the file');
$lock = new Lock(new Key('r'), StoreFactory::createStore('semaphore://a%20shop'));
check($lock->acquire(), 'a project of semaphores');
check(!(new Lock(new Key('r'), new Latch\Store\SemaphoreStore('a shop')))->acquire(), 'decoded');
check((new Lock(new Key('r'), StoreFactory::createStore('semaphore://b')))->acquire(), 'another project');

$shm = fn (string $path, string $options = '') => StoreFactory::createStore("shm://$directory/$path$options");
$lock = new Lock(new Key('r'), $shm('locks'));
check($lock->acquire() && !(new Lock(new Key('r'), new Latch\Store\SharedMemoryStore("$directory/locks")))->acquire(), 'a file of shared memory');
check((new Lock(new Key('r'), $shm('a%20file')))->acquire(), 'another file');
check(is_file("$directory/a file"), 'decoded');
check_same('0660', sprintf('%04o', fileperms("$directory/more") & 07777), 'its mode');
check(filesize("$directory/more") < filesize("$directory/locks") / 10, 'its capacity');
$unusable = 'Latch\Exception\InvalidArgumentException: Latch\Store\StoreFactory::createStore(): Argument #1 ($connection) is not usable: ';
$form = 'a DSN of shared memory is "shm", or like "shm:///dev/shm/application/locks?capacity=65536&mode=0660"';
$range = 'the capacity of shared memory must be a number of locks from 1 to 16777216';
$permissions = 'the mode of shared memory must be an octal number from 0600 to 0666 that lets its owner read and write';
foreach ([
    '?capacity=0' => $range, '?capacity=-1' => $range, '?capacity=many' => $range, '?capacity=' => $range, '?capacity=2147483648' => $range,
    '?mode=0477' => $permissions, '?mode=01000' => $permissions, '?mode=600x' => $permissions, '?mode=' => $permissions, '?mode=0' => $permissions,
    '?size=5' => 'unknown option "size" in the DSN; shared memory has "capacity" and "mode"',
    '?PASSWORD' => 'unknown option in the DSN; shared memory has "capacity" and "mode"',
] as $options => $problem) {
    check_same($unusable . $problem, outcome(fn () => $shm('none', $options)), $options);
}
foreach (['shm://host/x', 'shm://user:PASSWORD@host/x', 'shm://PASSWORD@/x', 'shm://host:1'] as $dsn) {
    check_same($unusable . $form, outcome(fn () => StoreFactory::createStore($dsn)), $dsn);
}
check(!file_exists("$directory/none"), 'no file is made of a wrong DSN');

/* What is another scheme's, and may have a password, makes no directory. */
chdir($directory);
foreach (['flock://user:PASSWORD@host/x', 'flock+remove://user:PASSWORD@host/x', 'flock://PASSWORD@host'] as $dsn) {
    $scheme = strstr($dsn, '//', true) . '//';
    check_same(
        "Latch\Exception\InvalidArgumentException: What stands behind \"$scheme\" is no directory: "
            . 'a path with ":" or "@" in it has to begin with "/" or "./".',
        outcome(fn () => StoreFactory::createStore($dsn)),
        $dsn
    );
}
check_same([], glob("$directory/*PASSWORD*"), 'no directory is made');
check(StoreFactory::createStore('flock://./a:b@c') instanceof Latch\Store\FlockStore, 'a relative path');
rmdir("$directory/a:b@c");

/* Nobody's, or Composer's, whose stores do not fit here: the scheme is named, and the nearest of ours. */
foreach ([
    '' => null, 'nonsense' => null, "flock\0" => null, '42' => null, 'PASSWORD@host' => null, 'user:PASSWORD@host' => null,
    'sqlite' => 'sqlite://', 'maria' => null,
    'FLOCK' => 'flock', 'flock:' => 'flock://', 'flock:/tmp' => 'flock://', 'flocks' => 'flock', 'flock ' => 'flock', ' flock' => 'flock',
    'file:///tmp' => 'flock://', 'semaphores' => 'semaphore', 'in-memory:' => 'in-memory', 'memory' => null, 'null:' => 'null',
    'redis' => 'redis://', 'rediss' => 'rediss://', 'Redis://localhost' => 'redis://', 'redsi://localhost' => 'redis://',
    'tcp://localhost' => 'redis://', 'valky://localhost' => 'valkey://',
    'mysqli:host=localhost' => 'mysql:', 'mariadb://h' => 'mysql://', 'mariadb:host=h' => 'mysql:', 'mariadb+advisory://h' => 'mysql+advisory://',
    'pdo-pgsql://localhost' => 'pgsql://', 'pdo-sqlite:///x' => 'sqlite://', 'sqlite2:/x' => 'sqlite:',
    'postgresql+advisory:host=localhost' => 'pgsql+advisory:', 'pgsql+advisoy://h' => 'pgsql+advisory://',
    'http://localhost' => '', 'memcached://localhost' => '', 'mongodb://localhost' => '', 'zookeeper://localhost' => '',
    'dynamodb://localhost' => '',
] as $dsn => $nearest) {
    $dsn = (string) $dsn;
    preg_match('~^[^:]*(://|:|$)~', $dsn, $scheme);
    $said = preg_replace("/ \(with latch.symfony = 1 Symfony's store serves it\)$/", '', outcome(fn () => StoreFactory::createStore($dsn)), -1, $hints);
    check_same($none . match ($nearest) {
        null => "it begins with no scheme$known",
        '' => "the scheme \"$scheme[0]\" is unknown$known",
        default => "the scheme \"$scheme[0]\" is unknown; did you mean \"$nearest\"?",
    }, $said, $dsn);
    check_same(
        preg_match('/^(memcached|mongodb|zookeeper|dynamodb):/', $dsn),
        $hints,
        "whether Symfony has a store for $dsn"
    );
}
foreach ([new stdClass(), new ArrayObject(), fn () => 1, new class () { }] as $object) {
    check_same(
        'Latch\Exception\InvalidArgumentException: Unsupported Connection: "' . get_debug_type($object) . '".',
        outcome(fn () => StoreFactory::createStore($object)),
        get_debug_type($object)
    );
}

/* Other connections of Doctrine's are made by Doctrine, which is not here. */
foreach (['mssql', 'oci8', 'pdo_oci'] as $scheme) {
    check_same(
        'Latch\Exception\InvalidArgumentException: Failed to parse the DSN. Try running "composer require doctrine/dbal".',
        outcome(fn () => StoreFactory::createStore("$scheme://localhost/test")),
        $scheme
    );
}

/* Wrong ones. */
foreach (['flock://', 'flock+remove://', 'redis://', 'rediss:/run/redis.sock', 'redis://localhost?nonsense=1',
    'pgsql+advisory:host', 'mysql+advisory://localhost?nonsense=1'] as $dsn) {
    echo preg_replace('/; known are .*/', '', outcome(fn () => StoreFactory::createStore($dsn))), "\n";
}
foreach ([null, [], STDIN] as $value) {
    echo outcome(fn () => StoreFactory::createStore($value)), "\n";
}
check_same("{$none}it begins with no scheme$known", outcome(fn () => StoreFactory::createStore(42)), 'a number is a text');
echo outcome(fn () => StoreFactory::createStore()), "\n";

/* No password in a message or a backtrace. */
ini_set('zend.exception_ignore_args', '0');
foreach (['redis://:SECRET@localhost?nonsense=1', 'rediss://:SECRET@/run/redis.sock', 'nonsense://SECRET', 'pgsql+advisory:SECRET',
    'mysql+advisory://:SECRET@localhost?nonsense=1', 'mssql://:SECRET@localhost', 'mysql://:SECRET@localhost?nonsense=1', 'SECRET', 'SECRET@localhost', 'shop:SECRET@localhost',
    'redsi:SECRET', 'redis-SECRET'] as $dsn) {
    try {
        StoreFactory::createStore($dsn);
        echo "BROKEN: $dsn\n";
    } catch (Throwable $e) {
        check(!str_contains($e . print_r($e->getTrace(), true), 'SECRET'), "$dsn: $e");
    }
}
$method = new ReflectionMethod(StoreFactory::class, 'createStore');
echo $method->getParameters()[0], ' ', $method->getReturnType(), ' ', $method->isStatic() ? 'static' : '', "\n";
--EXPECT--
Latch\Exception\InvalidArgumentException: The FlockStore directory "" does not exists and cannot be created.
Latch\Exception\InvalidArgumentException: The FlockStore directory "" does not exists and cannot be created.
Latch\Exception\InvalidArgumentException: Latch\Store\StoreFactory::createStore(): Argument #1 ($connection) is not usable: invalid Redis DSN: it names no server, as "redis://localhost:6379" and "redis:///run/redis.sock" do
Latch\Exception\InvalidArgumentException: Latch\Store\StoreFactory::createStore(): Argument #1 ($connection) is not usable: invalid Redis DSN: TLS is not spoken on a Unix socket, which is to be had by "redis:" or "valkey:"
Latch\Exception\InvalidArgumentException: Latch\Store\StoreFactory::createStore(): Argument #1 ($connection) is not usable: invalid Redis DSN: the option "nonsense" is unknown
Latch\Exception\InvalidArgumentException: Latch\Store\PostgreSqlStore::__construct(): Argument #1 ($connOrDsn) is not usable: invalid PostgreSQL DSN: an option has no "="; a value with blanks stands in quotes, as in "password='a b'"
Latch\Exception\InvalidArgumentException: Latch\Store\DoctrineDbalMysqlStore::__construct(): Argument #1 ($connOrUrl) is not usable: invalid MySQL DSN: the option "nonsense" is unknown
TypeError: Latch\Store\StoreFactory::createStore(): Argument #1 ($connection) must be of type object|string, null given
TypeError: Latch\Store\StoreFactory::createStore(): Argument #1 ($connection) must be of type object|string, array given
TypeError: Latch\Store\StoreFactory::createStore(): Argument #1 ($connection) must be of type object|string, resource given
ArgumentCountError: Latch\Store\StoreFactory::createStore() expects exactly 1 argument, 0 given
Parameter #0 [ <required> object|string $connection ] Latch\PersistingStoreInterface static
