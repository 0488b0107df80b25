--TEST--
RedisStore: locks expire when they are told to, or when the store is, and their keys know
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$store = new RedisStore($server->dsn(), 5000);

/** Whether "r" expires with its key, after `$least` seconds and `$most`. The server rounds up. */
$check_expiry = function (Key $key, float $least, float $most, string $case) use ($server) {
    $left = $server->command('PTTL', 'r') / 1000;
    check($least < $left && $left <= $most + 0.001, "$case: the server's time, $left");
    $left = $key->getRemainingLifetime();
    check($least < $left && $left <= $most, "$case: the key's time, $left");
};

foreach (['acquire', 'acquireRead'] as $acquire) {
    foreach ([300.0 => 300, 9000.0 => 9000, 5000.0 => null] as $seconds => $ttl) {
        $key = new Key('r');
        $lock = new Lock($key, $store, $ttl);
        check($lock->$acquire(), "$acquire, $ttl");
        $check_expiry($key, $seconds / 2, $seconds, "$acquire, $ttl");
        if ($ttl !== null) {
            $lock->refresh($ttl * 4);
            $check_expiry($key, $ttl * 2, $ttl * 4, "refresh, $ttl");
        }
        $lock->release();
    }
}

/* By hand. */
$key = new Key('r');
$store->save($key);
$check_expiry($key, 2500, 5000, 'save');
$store->putOffExpiration($key, 100);
$check_expiry($key, 50, 100, 'putOffExpiration, shorter');
$store->putOffExpiration($key, 9000);
check($server->command('PTTL', 'r') > 5000000, 'putOffExpiration, longer, on the server');
check($key->getRemainingLifetime() <= 100, 'the key keeps the shorter time until it is reset');
echo outcome(fn () => $store->putOffExpiration($key, 0)), "\n";
$store->delete($key);
$key = new Key('r');
$store->saveRead($key);
$check_expiry($key, 2500, 5000, 'saveRead');
$store->delete($key);

/* What has expired when it is there is not kept. */
foreach (['save', 'saveRead'] as $save) {
    $key = new Key('r');
    $key->reduceLifetime(-1);
    echo outcome(fn () => $store->$save($key)), "\n";
    wait_until(fn () => holders($server) === 'nobody', "$save: it is released");
}
$key = new Key('r');
$store->save($key);
$key->reduceLifetime(-1);
echo outcome(fn () => $store->putOffExpiration($key, 100)), "\n";
wait_until(fn () => holders($server) === 'nobody', 'putOffExpiration: it is released');

/* A refused acquire leaves what was there before, and gives no time to what was not. */
$keys = [new Key('r'), new Key('r')];
$readers = array_map(fn (Key $key) => new Lock($key, $store, 300), $keys);
check($readers[0]->acquireRead() && $readers[1]->acquireRead(), 'two readers');
check(!$readers[0]->acquire(), 'no writer beside a reader');
check($keys[0]->getRemainingLifetime() > 150, 'it reads on, for as long as before');
$readers[0]->release();
$readers[1]->release();
check($readers[0]->acquire(), 'a writer');
$readers[0]->release();
check($readers[1]->acquire(), 'another writer');
check(!$readers[0]->acquire(), 'refused');
check_same(null, $keys[0]->getRemainingLifetime(), 'the lifetime of what is not held');
$readers[1]->release();
echo "done\n";
?>
--EXPECT--
Latch\Exception\InvalidTtlException: Latch\Store\RedisStore::putOffExpiration(): Argument #2 ($ttl) must be more than 0 seconds: locks of this store expire
Latch\Exception\LockExpiredException: Failed to store the "r" lock.
Latch\Exception\LockExpiredException: Failed to store the "r" lock.
Latch\Exception\LockExpiredException: Failed to store the "r" lock.
done
