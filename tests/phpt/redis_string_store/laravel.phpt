--TEST--
RedisStringStore beside programs that SET key owner NX, and release by Laravel's script
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Lock, LockFactory};
use Latch\Store\{RedisStore, RedisStringStore};
use Latch\Tests\RedisServer;

// Illuminate\Cache\LuaScripts::releaseLock()
const RELEASE = <<<'LUA'
    if redis.call("get",KEYS[1]) == ARGV[1] then
        return redis.call("del",KEYS[1])
    else
        return 0
    end
    LUA;
check_same('647c65a442733a1aa440f99908d249d13b4d6c4a', sha1(RELEASE), 'the script by whose digest Laravel is known');

$server = new RedisServer();
$store = new RedisStringStore($server->dsn());
$locks = new LockFactory($store);
$take = fn (string $owner) => $server->command('SET', 'r', $owner, 'EX', 60, 'NX');
$release = fn (string $owner) => $server->command('EVAL', RELEASE, 1, 'r', $owner);
$lock = $locks->createLock('r', 60);

check_same('OK', $take('theirs'), 'a stock lock');
check_same(false, $lock->acquire(), 'excludes ours');
check_same(['exclusive', null], [$store->inspect(new Latch\Key('r'))['mode'], $store->inspect(new Latch\Key('r'))['holders'][0]['pid']], 'is told of');
check_same([], $store->listHeld(), 'and not listed');
check_same(1, $release('theirs'), 'released');
check_same(true, $lock->acquire(), 'ours then');
check_same(null, $take('theirs'), 'excludes theirs');
check_same(0, $release('theirs'), 'which cannot release it');

// handed over in both directions
$owner = $server->command('GET', 'r');
check_same(1, $release($owner), 'who knows the owner can');
check_same(false, $lock->isAcquired(), 'released there');
$take('theirs');
check_same(true, $store->release(RedisStringStore::key('r', 'theirs')), 'released here');

// a waiter follows a release that nobody tells it of, and hands on to the next
$take('theirs');
$child = fork(function (ParentLine $parent) use ($server) {
    $lock = (new LockFactory(new RedisStringStore($server->dsn())))->createLock('r', 60);
    $parent->say('waits');
    $begun = microtime(true);
    $lock->acquire(true);
    $parent->say('has');
    $parent->hear();
    $lock->release();
    return 0;
});
$child->hear_exactly('waits');
wait_until(fn () => $server->command('EXISTS', 'latch:string-queue:r') === 1, 'it stands in the queue');
$release('theirs');
$child->hear_exactly('has');
$child->say('release');
check_same(true, $lock->acquire(true, timeout: PATIENCE), 'handed over');
$lock->release();
$child->ending();

// Symfony's layout is another holder's
$sorted = new Lock(new Latch\Key('r'), new RedisStore($server->dsn()), 60);
$sorted->acquire();
check_same(false, $lock->acquire(), 'a sorted set excludes a string');
$sorted->release();
$lock->acquire();
check_same(false, $sorted->acquire(), 'and the other way round');
?>
DONE
--EXPECT--
DONE
