--TEST--
latch.keep_alive and latch.max_hold keep every lock that expires and can be kept
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, FlockStore, InMemoryStore, NullStore, RedisStore, SemaphoreStore, SharedMemoryStore};
use Latch\Strategy\UnanimousStrategy;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$directory = temporary_directory();

ini_set('latch.keep_alive', 1);
$lock = short_lock($server);
check($lock->acquire(), 'acquired');
wait_until_renewed($server);
$lock->release();
check($lock->acquireRead(), 'acquired for reading');
wait_until_renewed($server);
check_same(true, $lock->synchronized(function () use ($server) {
    wait_until_renewed($server);
    return true;
}), 'synchronized()');
unset($lock);
check($server->lacks('r'), 'released');

/* What cannot be kept goes on without, and what does not expire needs no thread. */
$threads = thread_count(getmypid());
foreach ([
    'flock' => new FlockStore($directory),
    'semaphore' => new SemaphoreStore(),
    'shared memory' => new SharedMemoryStore("$directory/shared", 100),
    'memory' => new InMemoryStore(),
    'null' => new NullStore(),
    'PHP' => new RecordingStore($directory),
    'beside a flock' => new CombinedStore([new FlockStore($directory), new RedisStore($server->dsn('?prefix=f:'))], new UnanimousStrategy()),
    'combined' => new CombinedStore([new RecordingStore($directory), new RedisStore($server->dsn('?prefix=c:'))], new UnanimousStrategy()),
] as $name => $store) {
    $lock = new Lock(new Key("$directory $name"), $store, 60);
    check($lock->acquire(), "$name: acquired");
    $lock->release();
}
check_same($threads, thread_count(getmypid()), 'threads');

/* Off again, it counts from the next acquire on. */
$lock = short_lock($server, ttl: 1.5);
check($lock->acquire(), 'acquired');
ini_set('latch.keep_alive', 0);
wait_until_renewed($server);
$lock->release();
$losses = new Losses();
$lock->onLost($losses->note('setting off'));
check($lock->acquire(), 'acquired without');
wait_until(fn () => !$lock->isHeld(), 'it runs out');
$losses->await('setting off');
wait_until(fn () => $server->lacks('r'), 'in the server, too');

/* The longest hold. It counts from the acquire; what the lock is asked for by hand goes beyond it. */
foreach (['argument' => fn () => short_lock($server, ttl: 1.5)->keepAlive(3), 'setting' => function () use ($server) {
    ini_set('latch.max_hold', '3');
    return short_lock($server, ttl: 1.5)->keepAlive();
}, 'both settings' => function () use ($server) {
    ini_set('latch.keep_alive', 1);
    return short_lock($server, ttl: 1.5)->onLost(fn () => null);
}] as $how => $make) {
    $lock = $make();
    $lock->onLost($losses->note($how));
    $begun = hrtime(true);
    check($lock->acquire(), "$how: acquired");
    wait_until_renewed($server);
    $losses->await($how);
    check(hrtime(true) - $begun > 2.5e9, "$how: not before its time");
    check(!$lock->isHeld(), "$how: not held");
    wait_until(fn () => $server->lacks('r'), "$how: the server forgets it as well");
}

/* A value that makes no sense is none. */
foreach (['-1', 'nonsense', 'INF', 'NAN', '1e999', '5 s'] as $value) {
    check_same(false, @ini_set('latch.max_hold', $value), "latch.max_hold = $value");
    check_same('latch.max_hold must be a number of seconds, 0 or more', error_get_last()['message'], $value);
    check_same('3', ini_get('latch.max_hold'), "latch.max_hold after $value");
}
foreach (['', '0', '0.5', '1e3', ' 7'] as $value) {
    check(ini_set('latch.max_hold', $value) !== false, "latch.max_hold = '$value'");
}
foreach ([0, -1, NAN, INF, -INF] as $value) {
    check_same(
        'Latch\Exception\InvalidArgumentException: Latch\Lock::keepAlive(): Argument #1 ($maxHold) must be null'
            . ' or a finite number of seconds, more than 0',
        outcome(fn () => $lock->keepAlive($value)),
        'keepAlive(' . var_export($value, true) . ')'
    );
}
echo "done\n";
--EXPECT--
done
