--TEST--
RedisStore on a \Redis object: it locks as by a DSN, whatever prefix, serialiser and compression the object has, in two trips
--EXTENSIONS--
igbinary
redis
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis_object.inc';

use Latch\{Key, LockFactory};
use Latch\Store\{RedisStore, StoreFactory};
use Latch\Tests\RedisServer;

$server = new RedisServer();
$cases = [
    'plain' => [[], ''],
    'prefix' => [['OPT_PREFIX' => 'app:'], 'app:'],
    'prefix with half a tag' => [['OPT_PREFIX' => 'app{'], 'app%7B'],
    'literal replies' => [['OPT_REPLY_LITERAL' => true, 'OPT_NULL_MULTIBULK_AS_NULL' => true], ''],
];
foreach (['SERIALIZER_PHP', 'SERIALIZER_IGBINARY', 'SERIALIZER_JSON'] as $name) {
    $cases[$name] = [['OPT_SERIALIZER' => constant("Redis::$name"), 'OPT_PREFIX' => 's:'], 's:'];
}
foreach (['COMPRESSION_LZF', 'COMPRESSION_ZSTD', 'COMPRESSION_LZ4'] as $name) {
    if (defined("Redis::$name")) {
        $cases[$name] = [['OPT_COMPRESSION' => constant("Redis::$name"), 'OPT_SERIALIZER' => Redis::SERIALIZER_PHP], ''];
    }
}
foreach ($cases as $case => [$options, $prefix]) {
    $redis = phpredis($server, $options);
    $direct = new RedisStore($server->dsn("?prefix=$prefix&persistent_id=$case"));
    prove_lock(
        fn (string $resource) => object_lock($redis, $resource),
        fn (string $resource) => new Latch\Lock(new Key($resource), $direct),
        $case
    );
    prove_inspection($redis, $case);
    check_same([], array_diff($server->command('KEYS', '*'), [rawurldecode($prefix) . 'latch:fencing']), "$case: nothing is left");
    $server->command('FLUSHALL');
}

/* Names with anything in them. */
$redis = phpredis($server);
foreach (["a\0b", 'ä{}', str_repeat('long', 1000)] as $resource) {
    $lock = object_lock($redis, $resource);
    check($lock->acquire(), 'an odd name');
    check_same(1, $server->command('EXISTS', $resource), 'is the name of its key');
    $lock->release();
    check_same(0, $server->command('EXISTS', $resource), 'and is gone');
}
check_same('InvalidArgumentException: Failed to store the "latch:x" lock: in Redis, names that begin with "latch:" are Latch\'s own.',
    messages((function () use ($redis) {
        try {
            object_lock($redis, 'latch:x')->acquire();
        } catch (Exception $e) {
            return $e->getPrevious();
        }
    })()), 'a name of ours');

/* One trip to acquire and one to release, and a third only when the server has no scripts. */
$lock = object_lock($redis);
$server->command('SCRIPT', 'FLUSH');
$server->command('CONFIG', 'RESETSTAT');
for ($round = 1; $round <= 3; $round++) {
    $lock->acquire();
    $lock->release();
    check_same(['evalsha' => 2 * $round, 'eval' => 2], ['evalsha' => $server->count('evalsha'),
        'eval' => $server->count('eval')], "commands by round $round");
}

/* Scripts that are gone while a lock is held. */
$lock->acquire();
$server->command('SCRIPT', 'FLUSH');
$lock->refresh();
$server->command('SCRIPT', 'FLUSH');
check($lock->isAcquired(), 'held without scripts');
$server->command('SCRIPT', 'FLUSH');
unset($lock);
check($server->lacks('r'), 'released without scripts');

/* The store's own TTL; time runs out. */
$lock = new Latch\Lock(new Key('r'), new RedisStore($redis, 1.0), null);
check($lock->acquire(), 'acquired for a moment');
wait_until(fn () => $server->lacks('r'), 'it is over');
check(!$lock->isHeld() && !$lock->isAcquired() && $lock->isExpired(), 'over for its holder, too');
unset($lock);

/* A key that another process, or another store, goes on with; by its methods. */
$store = new RedisStore($redis);
$key = new Key('r');
$store->save($key);
$copy = unserialize(serialize($key));
check($store->exists($copy) && (new RedisStore($server->dsn()))->exists(unserialize(serialize($key))), 'known elsewhere');
$store->putOffExpiration($copy, 20);
$store->delete($copy);
check(!$store->exists($key) && $server->lacks('r'), 'released elsewhere');

/* All ways to such a store. */
foreach ([StoreFactory::createStore($redis), new RedisStore($redis, 5)] as $store) {
    check($store instanceof RedisStore, get_class($store));
    $lock = (new LockFactory($store))->createLock('r');
    check($lock->acquire() && $lock->isAcquired(), 'acquired by a factory');
    unset($lock);
}
foreach ([
    'keepAlive' => fn () => (new LockFactory($store))->createLock('r')->keepAlive()->acquire(),
    'no client' => fn () => new RedisStore(new ArrayObject()),
    'null' => fn () => new RedisStore(null),
    'no TTL' => fn () => new RedisStore($redis, 0),
    'twice' => fn () => $store->__construct($redis),
] as $case => $call) {
    echo "$case: ", outcome($call), "\n";
}
$guarded = new RedisServer(['requirepass' => 'pass%word']);
$secret = phpredis($guarded);
$secret->auth('pass%word');
$store = new RedisStore($secret);
ob_start();
var_dump($store);
print_r($store);
var_export((array) $store);
check(!str_contains(ob_get_clean(), 'pass%word'), 'no credential is shown');
echo "done\n";
--EXPECT--
keepAlive: Latch\Exception\InvalidArgumentException: The "r" lock cannot be kept alive in a Latch\Store\RedisStore: the redis store cannot do that: its server is reached by a given connection, which only the thread that has the connection can use; give the store a DSN; call refresh() in time.
no client: TypeError: Latch\Store\RedisStore::__construct(): Argument #1 ($redis) must be of type Redis|Relay\Relay|Relay\Cluster|RedisArray|RedisCluster|Predis\ClientInterface|string, ArrayObject given
null: TypeError: Latch\Store\RedisStore::__construct(): Argument #1 ($redis) must be of type Redis|Relay\Relay|Relay\Cluster|RedisArray|RedisCluster|Predis\ClientInterface|string, null given
no TTL: Latch\Exception\InvalidTtlException: "Latch\Store\RedisStore::__construct()" expects a strictly positive TTL. Got 0.
twice: Error: Latch\Store\RedisStore is constructed already
done
