--TEST--
RedisStore: a key that is used in two stores has one token, by which a process knows it that it was handed to
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$one = new RedisServer();
$two = new RedisServer();
$key = new Key('r');

$store = new RedisStore($one->dsn());
$same = new RedisStore($one->dsn('?timeout=3'));
$store->save($key);
check($same->exists($key), 'another connection to the server knows the key');
$same->save($key);
$other = new RedisStore($two->dsn());
$other->save($key);
check_same($one->command('ZRANGE', 'r', 0, -1), $two->command('ZRANGE', 'r', 0, -1), 'the tokens');

$copy = unserialize(serialize($key));
foreach ([$store, $other] as $number => $store) {
    check($store->exists($copy), "server $number knows the copy");
    $store->delete($copy);
    check(!$store->exists($key), "server $number has released the lock");
}
check(!$same->exists($key), 'so has the other connection');

/* A release that nobody awaits may come after what is sent by another connection. */
$tokens = fn () => array_values(array_diff($one->command('ZRANGE', 's', 0, -1), ['__write__']));
$key = new Key('s');
$lock = new Lock($key, $store = new RedisStore($one->dsn()));
check($lock->acquire(), 'acquired');
$released = $tokens();
unset($lock);
$lock = new Lock($key, $same);
check($lock->acquire(true, PATIENCE), 'acquired by the other connection');
check_same(1, count($tokens()), 'its tokens');
check($released !== $tokens(), 'what is being given back is taken by another token');

/* If that connection knew the token already, the release is awaited. */
$known = new Lock($key, new RedisStore($one->dsn('?timeout=4')));
check($known->isAcquired(), 'known by another connection, too');
for ($time = 0; $time < 100; $time++) {
    unset($lock);
    $lock = new Lock($key, $same);
    check($known->acquire() && $known->isAcquired(), "acquired by the other connection, $time");
    $known->release();
    check($lock->acquire(), "acquired by the first, $time");
    check($known->isAcquired(), "and known by the other, $time");
}

/* A child's are not its parent's, in no store. */
fork(function () use ($key, $one) {
    $lock = new Lock($key, new RedisStore($one->dsn('?timeout=7')));
    check(!$lock->isAcquired() && !$lock->acquire() && !$lock->isHeld(), 'the parent has the lock');
})->ending();
check($lock->isHeld() && $lock->isAcquired(), 'it keeps it');
echo "done\n";
?>
--EXPECT--
done
