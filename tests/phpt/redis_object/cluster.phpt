--TEST--
RedisStore on a \RedisCluster: a lock and all that is beside it are in one slot, whatever its name and the prefix
--EXTENSIONS--
igbinary
redis
--SKIPIF--
<?php
require __DIR__ . '/../../utils/redis.inc';
Latch\Tests\RedisServer::skipBefore('7.0');
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis_object.inc';
require __DIR__ . '/../../utils/redis_cluster.inc';

use Latch\Tests\RedisClusterServers;

$servers = new RedisClusterServers();
$connect = fn () => new RedisCluster(null, $servers->addresses(), PATIENCE, PATIENCE);
$cluster = $connect();
$peer = $connect();
$used = [];
foreach (['', 'app:', '{app}:', 'a}b'] as $prefix) {
    foreach ([$cluster, $peer] as $client) {
        $client->setOption(Redis::OPT_PREFIX, $prefix);
    }
    foreach (['r', 'order-42', 'foo}bar', 'foo{}bar', '{user}:1', 'a{b', "a\0b"] as $resource) {
        $case = "\"$prefix\" and \"$resource\"";
        prove_lock(fn (string $name) => object_lock($cluster, $name), fn (string $name) => object_lock($peer, $name), $case, $resource);
        prove_inspection($cluster, $case, $resource);
        $lock = object_lock($cluster, $resource);
        check($lock->acquire(), "$case: acquired");
        $master = $servers->masterOf($prefix . $resource);
        check_same(1, $master->command('EXISTS', $prefix . $resource), "$case: is on its master");
        $used[$master->port] = true;
        unset($lock);
        check_same([], preg_grep('/latch:(\{[@-O]{4}\}:)?fencing$/', $servers->keys(), PREG_GREP_INVERT), "$case: nothing is left");
        $servers->flush();
    }
}
check_same(3, count($used), 'all masters have had locks');

/* Half a hash tag in the prefix would tear a lock and its companions apart. */
$cluster->setOption(Redis::OPT_PREFIX, 'app{');
try {
    object_lock($cluster)->acquire();
} catch (Latch\Exception\LockAcquiringException $e) {
    echo messages($e), "\n";
}
foreach ([$cluster, $peer] as $client) {
    $client->setOption(Redis::OPT_PREFIX, '');
}
$cluster->multi();
try {
    object_lock($cluster)->acquire();
} catch (Latch\Exception\LockAcquiringException $e) {
    echo messages($e), "\n";
}
$cluster->discard();

/* Scripts that one of the masters has forgotten. */
$lock = object_lock($cluster);
$lock->acquire();
$servers->masterOf('r')->command('SCRIPT', 'FLUSH');
$lock->refresh();
check($lock->isAcquired(), 'held without scripts');

/* A slot that has moved to another master: the client follows, its locks with it. */
$slot = $servers->slotOf('r');
$from = $servers->masterOf('r');
check_same(3, count($from->command('CLUSTER', 'GETKEYSINSLOT', $slot, 100)), 'the lock, its record and the counter move together');
$servers->move($slot, $servers->masters[$servers->masters[0] === $from ? 1 : 0]);
check($lock->isAcquired(), 'held on its new master');
$token = $lock->getFencingToken();
check(!object_lock($peer)->acquire(), 'where it excludes');
unset($lock);
$next = object_lock($peer);
check($next->acquire() && $next->getFencingToken() > $token, 'released there, and its tokens rise');
unset($next);
echo "done\n";
--EXPECT--
LockAcquiringException: Failed to acquire the "r" lock: in a cluster a prefix of keys cannot have a "{" without a whole hash tag, such as "{shop}": leave it out, or complete it. <- InvalidArgumentException: Failed to store the "r" lock: in a cluster a prefix of keys cannot have a "{" without a whole hash tag, such as "{shop}": leave it out, or complete it.
LockAcquiringException: Failed to acquire the "r" lock: the client is in a transaction or a pipeline, where commands are only collected; call its exec() or discard() first. <- InvalidArgumentException: Failed to store the "r" lock: the client is in a transaction or a pipeline, where commands are only collected; call its exec() or discard() first.
done
