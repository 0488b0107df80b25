--TEST--
RedisStore on a \RedisArray: each lock, with all that is beside it, is on the server that the array has chosen for it
--EXTENSIONS--
igbinary
redis
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis_object.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$servers = [];
foreach ([1, 2] as $unused) {
    $server = new RedisServer();
    $servers["127.0.0.1:$server->port"] = $server;
}
$array = new RedisArray(array_keys($servers));
$used = [];
for ($number = 0; count($used) < 2; $number++) {
    $resource = "lock $number";
    $server = $servers[$array->_target($resource)];
    $used[$array->_target($resource)] = true;
    $direct = new RedisStore($server->dsn());
    prove_lock(
        fn (string $resource) => object_lock($array, $resource),
        fn (string $resource) => new Lock(new Key($resource), $direct),
        $resource,
        $resource
    );
    prove_inspection($array, $resource, $resource);
    $lock = object_lock($array, $resource);
    $lock->acquire();
    foreach ($servers as $other) {
        check_same($other === $server ? 1 : 0, $other->command('EXISTS', "latch:holder:$resource"), "$resource: where its record is");
    }
    unset($lock);
}

/* A transaction concerns one of its servers, and one server's end those locks alone that it has. */
[$here, $there] = array_map(function (string $host) use ($array) {
    for ($number = 0; $array->_target("lock $number") !== $host; $number++);
    return "lock $number";
}, array_keys($servers));
$array->multi($array->_target($here));
try {
    object_lock($array, $here)->acquire();
    check(false, 'a lock on the server of a transaction');
} catch (Latch\Exception\LockAcquiringException $e) {
    check(str_contains(messages($e), 'discard() first'), messages($e));
}
$lock = object_lock($array, $there);
check($lock->acquire(), 'a lock on the other server');
$array->discard();
unset($lock);
$servers[$array->_target($here)]->stop();
try {
    object_lock($array, $here)->acquire();
    check(false, 'a lock on a server that is away');
} catch (Latch\Exception\LockAcquiringException $e) {
    check($e->getPrevious() instanceof Latch\Exception\LockStorageException
        && $e->getPrevious()->getPrevious() instanceof RedisException, messages($e));
}
check(object_lock($array, $there)->acquire(), 'a lock on the server that is there');
echo "done\n";
--EXPECT--
done
