--TEST--
RedisStringStore: the key is the owner; the same owner in another key is another holder
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock, LockFactory};
use Latch\Exception\LockConflictedException;
use Latch\Store\{RedisStringStore, StoreFactory};
use Latch\Tests\RedisServer;

$server = new RedisServer();
$store = new RedisStringStore($server->dsn('?prefix=app_'));
$locks = new LockFactory($store);
$get = fn () => $server->command('GET', 'app_r');

// an owner of its own: a random text
$lock = $locks->createLock('r', 60);
check_same(true, $lock->acquire(), 'acquired');
check(preg_match('~^[\w+/]{43}=$~', $get()) === 1, 'a token as of other stores: ' . $get());
check($server->command('PTTL', 'app_r') > 30000, 'with its TTL');
check($lock->getFencingToken() > 0, 'with a fencing token');
check_same(true, $lock->acquire(), 'the same lock again is renewed');
check_same(false, $locks->createLock('r', 60)->acquire(), 'another one is refused');
$lock->release();
check_same(null, $get(), 'released');

// a given one: any bytes
$owner = "user \0 7" . str_repeat("\xff", 1000);
$first = new Lock(RedisStringStore::key('r', $owner), $store, 60);
$second = new Lock(RedisStringStore::key('r', $owner), $store, 60);
check_same(true, $first->acquire(), 'a given owner');
check_same($owner, $get(), 'is the key');
check_same(false, $second->acquire(), 'two of one owner have it never both');
check_same(false, $second->acquire(true, timeout: 0.2), 'not after a wait either');
check_same(true, $first->isAcquired(), 'which leaves the lock');
$second->release();
check_same($owner, $get(), 'and so does its release');
check_same(false, $second->releaseIfHeld(), 'it had nothing');
check_same(true, $first->releaseIfHeld(), 'the holder had it');
check_same(false, $first->releaseIfHeld(), 'until then');

// handed over as a text: a key that has not acquired stands for the owner's lock
$first->acquire();
$restored = RedisStringStore::key('r', $owner);
$other = RedisStringStore::key('r', 'somebody');
check_same([true, false], [$store->exists($restored), $store->exists($other)], 'exists()');
$store->putOffExpiration($restored, 600);
check($server->command('PTTL', 'app_r') > 300000, 'renewed by its owner');
try {
    $store->putOffExpiration($other, 600);
    check(false, 'renewed by another');
} catch (LockConflictedException) {
}
check_same([false, true, false], array_map($store->release(...), [$other, $restored, $restored]), 'release() tells');
check_same(false, $first->isAcquired(), 'handed over, and released there');

// handed over as a key
$first->acquire();
$key = unserialize(serialize(RedisStringStore::key('r', $owner)));
check_same(true, $store->release($key), 'a serialized key has its owner');

// by a DSN
$made = StoreFactory::createStore(str_replace('redis:', 'redis+string:', $server->dsn('?prefix=app_')));
check_same(RedisStringStore::class, $made::class, 'redis+string:');
$lock = (new LockFactory($made))->createLock('r', 60);
$lock->acquire();
check_same(false, $first->acquire(), 'the same locks');
check_same([$get(), null], array_map($store->owner(...), [new Key('r'), new Key('free')]), 'owner() asks the server');
$evals = function () use ($server): int {
    preg_match_all('/^cmdstat_eval(?:sha)?:calls=(\d+)/m', $server->command('INFO', 'commandstats'), $match);
    return array_sum($match[1]);
};
$before = $evals();
check_same(true, $store->evict(new Key('r')), 'taken away');
check_same(1, $evals() - $before, 'by one request');
check_same([false, false], [$store->evict(new Key('r')), $lock->isAcquired()], 'once');
check_same(null, $store->owner(new Key('r')), 'nobody has it');
$server->command('SET', 'app_r', "pee\0r" . str_repeat('x', 5000));
check_same("pee\0r" . str_repeat('x', 5000), $store->owner(new Key('r')), 'an owner that is not on Latch');
check_same(true, $store->evict(new Key('r')), 'is taken away as well');
$server->command('ZADD', 'app_r', PHP_INT_MAX, 'token');
check_same([null, false], [$store->owner(new Key('r')), $store->evict(new Key('r'))], 'a lock of another layout has none');
$server->command('DEL', 'app_r');
check_same([], array_diff($server->command('KEYS', '*'), ['app_latch:fencing']), 'nothing is left');
?>
DONE
--EXPECT--
DONE
