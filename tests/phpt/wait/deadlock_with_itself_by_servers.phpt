--TEST--
A wait for what this very thread holds is an exception by whatever connections: Redis, databases, quorums
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
require __DIR__ . '/../../utils/phpt_stores.inc';
require __DIR__ . '/../../utils/mysql.inc';
require __DIR__ . '/../../utils/postgresql.inc';

use Latch\{Key, Lock};
use Latch\Exception\LockAcquiringException;
use Latch\Store\{CombinedStore, FlockStore, InMemoryStore, MysqlStore, PostgreSqlStore, RedisStore};
use Latch\Strategy\{ConsensusStrategy, UnanimousStrategy};
use Latch\Tests\{MySqlServer, PostgreSqlServer, RedisServer};

$servers = [new RedisServer(), new RedisServer(), new RedisServer()];
$redis = $servers[0];
$postgresql = new PostgreSqlServer();
$mysql = new MySqlServer();
$directory = temporary_directory();
$members = fn () => array_map(fn (RedisServer $server) => new RedisStore($server->dsn()), $servers);
$mixed = new CombinedStore(
    [new RedisStore(phpredis($redis)), new RecordingStore($directory), new InMemoryStore()],
    new UnanimousStrategy()
);
$strange = new CombinedStore($members(), new class () extends ConsensusStrategy {
});

/* By which store it is held, and by which it is waited for. */
$ways = [
    'Redis, two objects of one DSN' => [new RedisStore($redis->dsn()), new RedisStore($redis->dsn())],
    'Redis, two connections' => [new RedisStore($redis->dsn()), new RedisStore($redis->dsn('?persistent_id=other'))],
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
    'quorum' => [
        new CombinedStore($members(), new ConsensusStrategy()),
        new CombinedStore($members(), new ConsensusStrategy()),
    ],
    'quorum, a strategy in PHP' => [$strange, $strange],
    'a member of a quorum' => [$members()[1], new CombinedStore($members(), new UnanimousStrategy())],
    'a quorum, a member' => [new CombinedStore($members(), new UnanimousStrategy()), $members()[2]],
    'a quorum within another' => [
        new FlockStore($directory),
        new CombinedStore(
            [new CombinedStore([new InMemoryStore(), new FlockStore($directory)], new UnanimousStrategy())],
            new ConsensusStrategy()
        ),
    ],
    'a quorum with members in PHP' => [$mixed, $mixed],
];

function refused(callable $wait, string $case): void
{
    try {
        $wait();
        echo "BROKEN: $case: it has returned\n";
    } catch (LockAcquiringException $e) {
        check(str_contains($e->getMessage(), 'this very thread'), "$case: " . messages($e));
    }
}

foreach ($ways as $way => [$store, $same]) {
    $first = new Lock(new Key('resource'), $store);
    $second = new Lock(new Key('resource'), $same);
    $reads = !$store instanceof MysqlStore && !$store instanceof FlockStore;
    check($first->acquire(), "$way: acquired");
    refused(fn () => $second->acquire(true), "$way: acquire()");
    check(!$second->isHeld() && !$second->isAcquired(), "$way: nothing was taken");
    check($first->isHeld() && $first->isAcquired(), "$way: nor lost");
    check_same(false, $second->acquire(true, 0.02), "$way: with a timeout");
    if (str_starts_with($way, 'Redis') || str_starts_with($way, 'quorum')) {
        refused(fn () => $second->acquireRead(true), "$way: acquireRead()");
        refused(fn () => $second->synchronized(fn () => check(false, 'called')), "$way: synchronized()");
        $fiber = new Fiber(fn () => refused(fn () => $second->acquire(true), "$way: in a fiber"));
        $fiber->start();
        check($fiber->isTerminated(), "$way: the fiber has ended");
        $first->release();
        /* Readers do not wait for each other; who wants to write waits for all. */
        check($first->acquireRead() && $second->acquireRead(true), "$way: two read");
        refused(fn () => $second->acquire(true), "$way: a promotion");
        check($first->isAcquired() && $second->isAcquired(), "$way: both read on");
        $second->release();
        refused(fn () => $second->acquire(true), "$way: a writer behind a reader");
    }
    $first->release();
    check($second->acquire(true), "$way: free afterwards");
    $second->release();
}

/* A lock that is kept alive would never have ended. */
foreach ([$members()[0], new CombinedStore($members(), new ConsensusStrategy())] as $store) {
    $first = (new Lock(new Key('resource'), $store, 1.0))->keepAlive();
    check($first->acquire(), 'acquired, and kept');
    refused(fn () => (new Lock(new Key('resource'), $store, 1.0))->acquire(true), 'kept alive');
    check($first->isHeld(), 'it is kept on');
    $first->release();
}

/* By the stores' methods, as an application does without a Lock. */
$store = new PostgreSqlStore($postgresql->pdo());
$store->save($key = new Key('resource'));
refused(fn () => (new PostgreSqlStore($postgresql->pdo()))->waitAndSave(new Key('resource')), 'waitAndSave()');
$store->delete($key);

unset($first, $second, $fiber, $ways, $store);
gc_collect_cycles();
foreach ($servers as $server) {
    check_same([], array_values(array_diff($server->command('KEYS', '*'), ['latch:fencing', 'app:latch:fencing'])), 'nothing is left, nobody waits');
}
$postgresql->awaitHeld(0);
$mysql->awaitHeld(0);
echo "done\n";
--EXPECT--
done
