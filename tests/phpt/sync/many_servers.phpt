--TEST--
Versions, throttles, count-downs, sequences and debounces by a \RedisArray and a \RedisCluster: all of one name is on one server
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
require __DIR__ . '/../../utils/phpt_sync.inc';
require __DIR__ . '/../../utils/redis_cluster.inc';

use Latch\Store\RedisStore;
use Latch\SyncFactory;
use Latch\Tests\{RedisClusterServers, RedisServer};

/** Uses all of them by two clients. */
function prove(SyncFactory $one, SyncFactory $other, string $name, string $case): void
{
    check_same([true, false, '1'], [$one->createVersion($name)->advance(1), $other->createVersion($name)->advance(1),
        $other->createVersion($name)->get()], "$case: version");
    check_same([true, false], [$one->createThrottle($name, 1, 60.0)->acquire(), $other->createThrottle($name, 1, 60.0)->acquire()], "$case: throttle");
    check_same(true, $one->createCountDown($name)->open(['a', 'b'], "\0p"), "$case: opened");
    check_same(false, $other->createCountDown($name)->open(['a', 'b'], ''), "$case: it is open");
    check_same([1, "\0p"], [$other->createCountDown($name)->arrive('a')->left, $one->createCountDown($name)->arrive('b')->payload], "$case: count-down");
    $one->createCountDown($name)->done();
    check_same(true, $other->createCountDown($name)->await(0), "$case: done");
    [$first, $second] = [$one->createSequence($name)->enter('a'), $other->createSequence($name)->enter('b', "\0b")];
    check_same([false, "\0b"], [$second->isHead, $one->createSequence($name)->next($first->ticket)->payload], "$case: sequence");
    $one->createDebounce($name, 3600.0)->sent(($old = $one->createDebounce($name, 3600.0)->register())->token);
    $other->createDebounce($name, 3600.0)->sent($one->createDebounce($name, 3600.0)->register()->token);
    check_same('done', $other->createDebounce($name, 3600.0)->resume($old->token)->state, "$case: debounce");
}

$servers = [new RedisServer(), new RedisServer()];
$array = fn () => new RedisArray(array_map(fn (RedisServer $server) => "127.0.0.1:$server->port", $servers));
for ($at = 0; $at < 10; $at++) {
    prove(new SyncFactory(new RedisStore($array())), new SyncFactory(new RedisStore($array())), "name $at", "array, name $at");
}
check($servers[0]->command('DBSIZE') > 0 && $servers[1]->command('DBSIZE') > 0, 'both servers are used');

$cluster = new RedisClusterServers();
foreach (['', 'app:', '{app}:', 'a}b'] as $prefix) {
    $clients = [];
    foreach ([0, 1] as $at) {
        $clients[$at] = new RedisCluster(null, $cluster->addresses(), PATIENCE, PATIENCE);
        $clients[$at]->setOption(Redis::OPT_PREFIX, $prefix);
    }
    foreach (['r', 'order-42', 'foo}bar', 'foo{}bar', '{user}:1', 'a{b', "a\0b"] as $name) {
        prove(new SyncFactory(new RedisStore($clients[0])), new SyncFactory(new RedisStore($clients[1])), $name, "cluster, \"$prefix\" and \"$name\"");
    }
}
echo "done\n";
?>
--EXPECT--
done
