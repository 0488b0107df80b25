--TEST--
A wait for what this very thread holds is an exception also by client objects
--EXTENSIONS--
igbinary
redis
mysqlnd
pdo
pdo_mysql
pdo_pgsql
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis_object.inc';
require __DIR__ . '/../../utils/phpt_deadlock.inc';
require __DIR__ . '/../../utils/mysql.inc';
require __DIR__ . '/../../utils/postgresql.inc';

use Latch\Key;
use Latch\Store\{CombinedStore, InMemoryStore, MysqlStore, PostgreSqlStore, RedisStore};
use Latch\Strategy\UnanimousStrategy;
use Latch\Tests\{MySqlServer, PostgreSqlServer, RedisServer};

$redis = new RedisServer();
$postgresql = new PostgreSqlServer();
$mysql = new MySqlServer();
$directory = temporary_directory();
$mixed = new CombinedStore(
    [new RedisStore(phpredis($redis)), new RecordingStore($directory), new InMemoryStore()],
    new UnanimousStrategy()
);

/* By which store it is held, and by which it is waited for. */
$ways = [
    'Redis, object and DSN' => [new RedisStore(phpredis($redis)), new RedisStore($redis->dsn())],
    'Redis, DSN and object' => [new RedisStore($redis->dsn()), new RedisStore(phpredis($redis))],
    'Redis, two objects' => [new RedisStore(phpredis($redis)), new RedisStore(phpredis($redis))],
    'Redis, a prefix' => [
        new RedisStore(phpredis($redis, ['OPT_PREFIX' => 'app:'])),
        new RedisStore(phpredis($redis, ['OPT_PREFIX' => 'app:'])),
    ],
    'PostgreSQL, two PDOs' => [new PostgreSqlStore($postgresql->pdo()), new PostgreSqlStore($postgresql->pdo())],
    'PostgreSQL, PDO and DSN' => [new PostgreSqlStore($postgresql->pdo()), new PostgreSqlStore($postgresql->dsn())],
    'PostgreSQL, DSN and PDO' => [new PostgreSqlStore($postgresql->dsn()), new PostgreSqlStore($postgresql->pdo())],
    'MySQL, two PDOs' => [new MysqlStore($mysql->pdo()), new MysqlStore($mysql->pdo())],
    'MySQL, PDO and DSN' => [new MysqlStore($mysql->pdo()), new MysqlStore($mysql->dsn())],
    'a quorum with members in PHP' => [$mixed, $mixed],
];

foreach ($ways as $way => [$store, $same]) {
    prove_refusals($store, $same, $way, str_starts_with($way, 'Redis'));
}

/* By the stores' methods, as an application does without a Lock. */
$store = new PostgreSqlStore($postgresql->pdo());
$store->save($key = new Key('resource'));
refused(fn () => (new PostgreSqlStore($postgresql->pdo()))->waitAndSave(new Key('resource')), 'waitAndSave()');
$store->delete($key);

unset($ways, $store, $same, $mixed);
gc_collect_cycles();
check_same([], array_diff($redis->command('KEYS', '*'), ['latch:fencing', 'app:latch:fencing']), 'nothing is left');
$postgresql->awaitHeld(0);
$mysql->awaitHeld(0);
echo "done\n";
--EXPECT--
done
