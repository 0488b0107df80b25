--TEST--
A multi-lock is kept alive as one, and its loss is told once, with the member that was lost
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\{Lock, LockFactory, MultiLock};
use Latch\Exception\LockExpiredException;
use Latch\Store\{FlockStore, RedisStore};
use Latch\Tests\RedisServer;

$server = new RedisServer();
$store = new RedisStore($server->dsn());
$told = [];
$note = function (MultiLock $multi, string $reason) use (&$told) {
    $told[] = $reason;
    check(!$multi->isHeld(), 'not held any more when that is told');
};
$await = function (string $pattern, string $case) use (&$told): void {
    wait_until(function () use (&$told) {
        return $told !== [];
    }, "$case: a loss is told");
    usleep(300000);
    check_same(1, count($told), "$case: once");
    check(preg_match($pattern, $told[0]) === 1, "$case: $told[0]");
    $told = [];
};

/* All members are renewed, also after a second acquire, and none after the release. */
$multi = multi_lock($store, ['c', 'a', 'b'], TTL);
check_same($multi, $multi->keepAlive()->onLost($note), 'returns itself');
foreach (['first', 'second'] as $time) {
    check($multi->acquire(), "the $time time");
    foreach (['a', 'b', 'c'] as $name) {
        wait_until_renewed($server, $name);
    }
    sleep((int) TTL + 1);
    check($multi->isHeld() && $multi->isAcquired() && $multi->getRemainingLifetime() > 0, "the $time time: held for longer than its TTL");
    $multi->release();
    check_same('a b c', free_ones($store, 'a', 'b', 'c'), "the $time time: released");
}
check_same([], $told, 'no loss');

/* One loss, whatever number of members is lost. */
foreach ([['b'], ['a', 'c'], ['a', 'b', 'c']] as $lost) {
    $case = implode(' ', $lost);
    check($multi->acquire(), "$case: acquired");
    $server->command('DEL', ...$lost);
    $await('/^member "[' . implode($lost) . ']": ./', $case);
    check(!$multi->isHeld() && !$multi->isAcquired(), "$case: lost as a whole");
    check_same($case, free_ones($store, 'a', 'b', 'c'), "$case: the others are kept until the release");
    $multi->release();
    check_same('a b c', free_ones($store, 'a', 'b', 'c'), "$case: released");
}

/* Several callbacks, and a second object, whose loss is its own. */
$other = multi_lock($store, ['x', 'y'], TTL)->onLost($note)->keepAlive();
$more = 0;
$multi->onLost(function () use (&$more) {
    $more++;
});
check($multi->acquire() && $other->acquire(), 'two');
$server->command('DEL', 'a');
$await('/^member "a": /', 'two callbacks');
check_same(1, $more, 'the second callback');
check($other->isHeld(), 'the other one is held');
$multi->release();
$other->release();
check($multi->acquire() && $multi->isHeld(), 'held again');
$multi->release();

/* Without keepAlive() its end is a loss, too; of an acquire that failed there is none. */
$short = multi_lock($store, ['a', 'b'], 1)->onLost($note);
check($short->acquire(), 'acquired');
$await('/^member "[ab]": /', 'its time is over');
$short->release();
$holder = (new LockFactory($store))->createLock('b');
$holder->acquire();
check(!$short->acquire(), 'refused');
usleep(1500000);
check_same([], $told, 'no loss of what was refused');
$holder->release();

/* maxHold; settings. */
$short = multi_lock($store, ['a', 'b'], 1)->keepAlive(1.5)->onLost($note);
check($short->acquire(), 'acquired');
$await('/^member "[ab]": /', 'the end of maxHold');
$short->release();
ini_set('latch.keep_alive', '1');
$set = multi_lock($store, ['a', 'b'], TTL);
check($set->acquire(), 'acquired');
sleep((int) TTL + 1);
check($set->isHeld() && $set->isAcquired(), 'latch.keep_alive');
ini_set('latch.throw_on_lost', '1');
$thrown = [];
$is_deleted = false;
for ($end = hrtime(true) + 5 * 1e9; hrtime(true) < $end;) {
    try {
        if (!$is_deleted) {
            $is_deleted = true;
            $server->command('DEL', 'a', 'b'); // a renewal may find the loss before the answer is read
        }
        usleep(1000);
    } catch (LockExpiredException $e) {
        $thrown[] = $e->getMessage();
    }
}
check_same(1, count($thrown), 'latch.throw_on_lost: exceptions');
check(preg_match('/^The multi-lock of "a" and 1 more was lost: member "[ab]": .+\.$/', $thrown[0] ?? '') === 1, $thrown[0] ?? '');
ini_set('latch.throw_on_lost', '0');
ini_set('latch.keep_alive', '0');
$set->release();
unset($set);

/* A callback that releases it, acquires it anew, or drops the last reference. */
$multi = multi_lock($store, ['a', 'b', 'c'], TTL)->keepAlive();
$done = [];
$multi->onLost(function (MultiLock $multi) use (&$done) {
    $multi->release();
    $done[] = $multi->acquire();
});
check($multi->acquire(), 'acquired');
$server->command('DEL', 'a', 'b', 'c');
wait_until(function () use (&$done) {
    return $done !== [];
}, 'the callback is called');
usleep(1500000);
check_same([true], $done, 'once');
check($multi->isHeld() && $multi->isAcquired(), 'held anew');
$server->command('DEL', 'b');
wait_until(function () use (&$done) {
    return count($done) === 2;
}, 'and lost anew');
$done = [];
unset($multi);
check_same('a b c', free_ones($store, 'a', 'b', 'c'), 'released with its object');
$GLOBALS['last'] = multi_lock($store, ['a', 'b', 'c'], TTL)->keepAlive()->onLost(function () use (&$done) {
    unset($GLOBALS['last']);
    $done[] = 'dropped';
});
check($GLOBALS['last']->acquire(), 'acquired');
$server->command('DEL', 'a', 'b', 'c');
wait_until(function () use (&$done) {
    return $done !== [];
}, 'the callback is called');
usleep(500000);
check_same(['dropped'], $done, 'once');

/* Lock files that are removed. */
$directory = temporary_directory();
$files = multi_lock(new FlockStore($directory), ['a', 'b'])->onLost($note)->keepAlive();
check($files->acquire(), 'files');
unlink(lock_file($directory, 'b'));
$await('/^member "b": /', 'a lock file');
$files->release();

/* Stores that a thread cannot drive. */
$php = multi_lock(new RecordingStore(temporary_directory()), ['a', 'b'], 60);
foreach (['keepAlive' => [], 'onLost' => [fn () => null]] as $method => $arguments) {
    check(str_contains(outcome(fn () => $php->$method(...$arguments)), 'InvalidArgumentException: The "a" lock cannot be'), "$method() of a store in PHP");
}
check($php->acquire() && $php->isHeld(), 'which is what it was');

/* Members that expire before the last of them is there. */
$slow = new RecordingStore(temporary_directory());
$slow->before = fn (string $call, Latch\Key $key) => $call === 'save' && (string) $key === 'b' ? usleep(300000) : null;
$expired = multi_lock($slow, ['a', 'b'], 0.2);
check_same(
    'Latch\Exception\LockExpiredException: Failed to store the multi-lock of "a" and 1 more: a member expired, or was lost, before all members were taken; '
        . 'give it a longer TTL, or keep it alive.',
    outcome($expired->acquire(...)),
    'too slow'
);
check_same([false, false, false], [$expired->isHeld(), $slow->is_locked('a'), $slow->is_locked('b')], 'nothing is left');
echo "done\n";
--EXPECT--
done
