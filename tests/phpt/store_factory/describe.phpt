--TEST--
StoreFactory::describe() tells of every class of stores what createStore() makes it of and what its locks can do
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{BlockingSharedLockStoreInterface, PersistingStoreInterface, SharedLockStoreInterface};
use Latch\Store\StoreFactory;

$all = StoreFactory::describe();
$native = array_values(array_filter($all, fn (array $store) => $store['native']));

/* All that there are, once. */
$classes = array_filter(get_declared_classes(), fn (string $name) => str_starts_with($name, 'Latch\\Store\\')
    && is_subclass_of($name, PersistingStoreInterface::class));
$told = array_column($native, 'class');
sort($classes);
sort($told);
check_same($classes, $told, 'the classes');
check_same($all, array_values(array_unique($all, SORT_REGULAR)), 'none is told twice');
foreach ($all as $store) {
    check_same(
        ['name', 'title', 'class', 'native', 'dsns', 'examples', 'clients', 'scope', 'shared', 'expiring', 'fencing', 'listing', 'ttl', 'library', 'build'],
        array_keys($store),
        "what is told of $store[class]"
    );
    check_same($store['expiring'] && $store['name'] !== 'redis-string', $store['ttl'] !== null, "$store[class]: what expires has a TTL");
}
check_same([], array_filter($all, fn (array $store) => $store['native'] !== str_starts_with($store['class'], 'Latch\\')), 'native classes are those of Latch');

/* Forms of DSNs are of one class each, and that is the one that createStore() makes. */
$forms = array_merge(...array_column($all, 'dsns'));
check_same($forms, array_unique($forms), 'no form has two classes');
foreach ($all as $store) {
    foreach ($store['dsns'] as $form) {
        $dsn = $form . match (true) {
            preg_match('~[:/]$~', $form) === 0, $form === 'semaphore://' => '',
            str_starts_with($form, 'flock') => temporary_directory(),
            $form === 'shm://' => temporary_directory() . '/locks',
            preg_match('~^(redis|valkey)s?(\+string)?:$~', $form) === 1 => '//localhost',
            preg_match('~(advisory|pgsql|mysql):$~', $form) === 1 => 'host=localhost',
            default => 'localhost',
        };
        check_same([$store], StoreFactory::describe($dsn), "who has $dsn");
        if ($store['name'] === 'doctrine-dbal' && preg_match('/^(mssql|oci8|pdo_oci|sqlite)/', $dsn) === 1) {
            if (str_starts_with($dsn, 'sqlite')) {
                continue; // which Latch may be built without
            }
            check(str_contains(outcome(fn () => StoreFactory::createStore($dsn)), 'composer require doctrine/dbal'), "$dsn needs DBAL");
        } elseif ($store['native'] && str_starts_with($store['build'], 'yes')) {
            check_same($store['class'], StoreFactory::createStore($dsn)::class, "what is made of $dsn");
        } elseif (!$store['native']) {
            check(str_contains(outcome(fn () => StoreFactory::createStore($dsn)), 'No lock store supports the given DSN'), "$dsn is not Latch's");
        }
    }
    foreach (array_keys($store['examples']) as $example) {
        check_same([$store], StoreFactory::describe($example), "who has the example $example");
    }
}
foreach (['', 'flock ', 'flock:', 'flock:/tmp', 'FLOCK', "flock\0", 'redis', 'http://localhost', 'mysql2+advisory://h', 'mariadb+advisory:host=h',
    'postgresql+advisory:host=h'] as $dsn) {
    check_same([], StoreFactory::describe($dsn), "nobody has $dsn");
    check(str_contains(outcome(fn () => StoreFactory::createStore($dsn)), 'No lock store supports the given DSN'), "nothing is made of $dsn");
}
check_same($all, StoreFactory::describe(null), 'null');

/* Capabilities are those of the classes. */
$of = array_column($native, null, 'class');
foreach ($of as $class => $store) {
    if ($store['scope'] !== 'members') {
        check_same(is_subclass_of($class, SharedLockStoreInterface::class), $store['shared'], "$class: shared locks");
    }
    check_same(method_exists($class, 'listHeld'), $store['listing'], "$class: listHeld()");
}
check_same('server', $of['Latch\Store\RedisStore']['scope'], 'Redis');
check_same(
    ['machine', true, false, true, 'shared memory'],
    array_map(fn (string $what) => $of['Latch\Store\SharedMemoryStore'][$what], ['scope', 'shared', 'expiring', 'fencing', 'title']),
    'shared memory'
);
check_same([true, true, 300.0], [$of['Latch\Store\RedisStore']['expiring'], $of['Latch\Store\RedisStore']['fencing'], $of['Latch\Store\RedisStore']['ttl']], 'Redis');
check_same('members', $of['Latch\Store\CombinedStore']['scope'], 'CombinedStore');
check_same(['process', 'nothing'], [$of['Latch\Store\InMemoryStore']['scope'], $of['Latch\Store\NullStore']['scope']], 'in one process');
check_same('PostgreSQL', $of['Latch\Store\PostgreSqlStore']['title'], 'a title');
check_same(['PDO'], $of['Latch\Store\MysqlStore']['clients'], 'clients');
check_same([true, 300.0, 'server'], [$of['Latch\Store\PdoStore']['expiring'], $of['Latch\Store\PdoStore']['ttl'], $of['Latch\Store\PdoStore']['scope']], 'a table');

/* Builds, as phpinfo() tells them. */
ob_start();
(new ReflectionExtension('latch'))->info();
$info = ob_get_clean();
foreach ($native as $store) {
    check(str_contains($info, "\n$store[name] store => $store[build]\n"), "phpinfo() tells of $store[name]: $store[build]");
    check_same($store['library'] === null ? null : "yes ($store[library])", preg_match('/^yes \(/', $store['build']) === 1 ? $store['build'] : null, "$store[name]: the library");
}

/* Under Symfony's names. */
$process = proc_open(
    php_command('-d', 'latch.symfony=1', '-r', 'echo json_encode(Latch\Store\StoreFactory::describe(), JSON_PRESERVE_ZERO_FRACTION);'),
    [1 => ['pipe', 'w']],
    $pipes
);
$symfonys = json_decode(stream_get_contents($pipes[1]), true);
proc_close($process);
check_same(str_replace('Latch\\Store', 'Symfony\\Component\\Lock\\Store', array_column($all, 'class')), array_column($symfonys, 'class'), "the classes under Symfony's names");
$strip = fn (array $list) => array_map(fn (array $store) => array_diff_key($store, ['class' => 0]), $list);
check_same($strip($all), $strip($symfonys), "the rest under Symfony's names");

/* No DSN in a backtrace. */
echo outcome(fn () => StoreFactory::describe([])), "\n";
echo (new ReflectionMethod(StoreFactory::class, 'describe'))->getParameters()[0], "\n";
check_same('SensitiveParameter', (new ReflectionMethod(StoreFactory::class, 'describe'))->getParameters()[0]->getAttributes()[0]->getName(), 'a DSN is not told');
--EXPECT--
TypeError: Latch\Store\StoreFactory::describe(): Argument #1 ($dsn) must be of type ?string, array given
Parameter #0 [ <optional> ?string $dsn = null ]
