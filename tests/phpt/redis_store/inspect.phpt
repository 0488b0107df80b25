--TEST--
RedisStore::inspect(), listHeld() and forceRelease(): who holds, by their notes, and an end to that
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock};
use Latch\Exception\{InvalidArgumentException, LockStorageException};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$store = new RedisStore($server->dsn('?prefix=shop:'));
$inspect = fn (string $resource = 'r') => $store->inspect(new Key($resource));
$lock = new Lock(new Key('r'), $store, 60);

check_same(['name' => 'r', 'mode' => null, 'holders' => [], 'holderCount' => 0, 'waiters' => 0], $inspect(), 'free');
check_same([], $store->listHeld(), 'nothing is held');

// a writer
$before = (float) sprintf('%d.%06d', ...$server->command('TIME'));
$lock->acquire();
$found = $inspect();
[$holder] = $found['holders'];
check_same(['r', 'exclusive', 1, 0], [$found['name'], $found['mode'], $found['holderCount'], $found['waiters']], 'held');
check_same(getmypid(), $holder['pid'], 'the process');
check_same(gethostname(), $holder['host'], 'its host');
check_same(__FILE__, $holder['script'], 'its script');
check_same($lock->getFencingToken(), $holder['fencingToken'], 'its fencing token');
check($holder['since'] >= $before - 1e-5 && $holder['since'] < $before + PATIENCE, "since $holder[since], not $before");
check($holder['remaining'] > 60 - PATIENCE && $holder['remaining'] <= 60.001, "for $holder[remaining]");
[$token] = array_values(array_diff($server->command('ZRANGE', 'shop:r', 0, -1), ['__write__']));
check(preg_match('/^[0-9a-f]{16}$/', $holder['id']) === 1 && !str_contains(serialize($found), $token), 'no token is told');
check_same([$found['name']], array_column($store->listHeld(), 'name'), 'listed');
$lock->release();

// readers, and what they say of themselves
$reader = new Lock(new Key('r'), $store, 60);
$reader->acquireRead();
$child = fork(function (ParentLine $parent) use ($store) {
    ini_set('latch.holder_name', "job \x1b[1m7\n" . str_repeat('x', 300));
    $lock = new Lock(new Key('r'), $store, 120);
    $lock->acquireRead();
    $parent->say('held');
    $parent->hear();
    return 0;
});
$child->hear_exactly('held');
ini_set('latch.holder_note', '0');
$silent = new Lock(new Key('r'), $store, 30);
$silent->acquireRead();
ini_set('latch.holder_note', '1');
$found = $inspect();
check_same(['shared', 3], [$found['mode'], $found['holderCount']], 'readers');
check_same([$child->pid, getmypid(), null], array_column($found['holders'], 'pid'), 'a forked child is another process');
check_same([str_repeat('x', 200), __FILE__, null], array_column($found['holders'], 'script'), 'what they are called');
check_same([null, null, null], array_column($found['holders'], 'fencingToken'), 'readers have none');
check_same(['r'], array_column($store->listHeld(), 'name'), 'one lock');
$child->say('end');
$child->ending();
ini_set('latch.holder_name', "job \x1b[1m7\t\xc3\xa4");
$reader->acquireRead();
check_same("job ?[1m7?\xc3\xa4", $inspect()['holders'][0]['script'], 'plain text');
ini_restore('latch.holder_name');
unset($reader, $silent);
check_same(null, $inspect()['mode'], 'free again');

// who was granted it, by another one's release
$lock->acquire();
$child = fork(function (ParentLine $parent) use ($server) {
    $lock = new Lock(new Key('r'), new RedisStore($server->dsn('?prefix=shop:')), 60);
    $lock->acquire(true);
    $parent->say('held');
    $parent->hear();
    return 0;
});
wait_until(fn () => $inspect()['waiters'] === 1, 'one waits');
$lock->release();
$child->hear_exactly('held');
check_same([$child->pid], array_column($inspect()['holders'], 'pid'), 'who has claimed it');

// an end to that: for those that are named
check_same(0, $store->forceRelease(new Key('r'), []), 'nobody');
check_same(0, $store->forceRelease(new Key('r'), [$holder['id']]), 'who holds it no more');
check(!$lock->acquire(), 'still held');
check_same(1, $store->forceRelease(new Key('r'), array_column($inspect()['holders'], 'id')), 'who holds it');
check($lock->acquire(), 'free');
$child->say('end');
$child->ending();
check($lock->isAcquired(), 'the victim gives back nothing of others');
$lock->release();

// who is kept alive hears of it
$told = [];
$kept = new Lock(new Key('kept'), $store, 3);
$kept->keepAlive()->onLost(function (Lock $lock, string $reason) use (&$told) {
    $told[] = $reason;
});
$kept->acquire();
check_same(1, $store->forceRelease(new Key('kept'), [$inspect('kept')['holders'][0]['id']]), 'taken away');
wait_until(function () use (&$told) {
    return $told !== [];
}, 'the loss is told');
check_same(['it has another holder, or none any more'], $told, 'why');
check(!$kept->isHeld(), 'not held');

// of others, what their layout tells
$server->command('SET', 'shop:laravel', 'owner');
check_same(
    ['exclusive', null, null],
    [$inspect('laravel')['mode'], $inspect('laravel')['holders'][0]['pid'], $inspect('laravel')['holders'][0]['remaining']],
    'a string'
);
$server->command('ZADD', 'shop:symfony', 9e15, base64_encode(random_bytes(32)));
$server->command('ZADD', 'shop:scores', 9e15, 'player');
check_same([], $store->listHeld(), 'foreign locks are not listed');
check_same(['symfony'], array_column($store->listHeld(true), 'name'), 'unless that is asked for');

// trouble
$server->command('RPUSH', 'shop:list', 'a');
check(str_contains(outcome(fn () => $inspect('list')), LockStorageException::class . ': Failed to inspect the "list" lock: '), 'WRONGTYPE');
foreach ([['x'], [null], [str_repeat('G', 16)], ["0123456789abcde\0"], [[]]] as $ids) {
    check(str_starts_with(outcome(fn () => $store->forceRelease(new Key('r'), $ids)), InvalidArgumentException::class), 'ids');
}
unset($kept);
$server->stop();
foreach ([fn () => $inspect(), fn () => $store->listHeld(), fn () => $store->forceRelease(new Key('r'), [$holder['id']])] as $call) {
    check(str_starts_with(outcome($call), LockStorageException::class . ': Failed to '), outcome($call));
}
echo "done\n";
--EXPECT--
done
