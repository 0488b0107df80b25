--TEST--
RedisStringStore: a lock without a TTL is for ever, until it is renewed for a time
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Lock, LockFactory};
use Latch\Exception\{InvalidArgumentException, InvalidTtlException};
use Latch\Store\RedisStringStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$left = fn (string $key = 'r') => $server->command('PTTL', $key);
$lock = (new LockFactory(new RedisStringStore($server->dsn())))->createLock('r', null, false);
$lock->acquire();
check_same([-1, null, true], [$left(), $lock->getRemainingLifetime(), $lock->isHeld()], 'no end');
$lock->refresh(60);
check($left() > 30000 && $lock->getRemainingLifetime() > 30, 'for a minute');
$lock->refresh(0);
check_same([-1, null, true], [$left(), $lock->getRemainingLifetime(), $lock->isAcquired()], 'no end again');
$lock->refresh();
check_same(-1, $left(), 'as it was made');
unset($lock);
check_same(-1, $left(), 'without automatic release it stays');
$restored = new Lock(RedisStringStore::key('r', $server->command('GET', 'r')), new RedisStringStore($server->dsn()));
check_same([true, true, null], [$restored->isAcquired(), $restored->releaseIfHeld(), $server->command('GET', 'r')], 'restored');

$store = new RedisStringStore($server->dsn(), 60);
$lock = (new LockFactory($store))->createLock('r', null);
$lock->acquire();
check($left() > 30000, 'with an initial TTL');
try {
    $lock->refresh(0);
    check(false, 'refreshed for ever');
} catch (InvalidArgumentException) {
}
foreach ([0, -1, NAN, INF] as $ttl) {
    try {
        new RedisStringStore($server->dsn(), $ttl);
        check(false, "an initial TTL of $ttl");
    } catch (InvalidTtlException) {
    }
}
foreach (['', str_repeat('x', 1025)] as $owner) {
    try {
        RedisStringStore::key('r', $owner);
        check(false, 'an owner of ' . strlen($owner) . ' bytes');
    } catch (InvalidArgumentException) {
    }
}
?>
DONE
--EXPECT--
DONE
