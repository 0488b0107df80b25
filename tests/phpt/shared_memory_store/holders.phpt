--TEST--
SharedMemoryStore: inspect() and listHeld() tell who holds what, and forceRelease() takes it away
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\{Key, Lock};
use Latch\Store\SharedMemoryStore;

$path = temporary_directory() . '/locks';
$store = new SharedMemoryStore($path, 1000);
check_same(['name' => 'r', 'mode' => null, 'holders' => [], 'holderCount' => 0, 'waiters' => 0], $store->inspect(new Key('r')), 'free');
check_same([], $store->listHeld(), 'nothing is held');

$holder = fn (string $resource, string $method = 'acquire') => fork(function (ParentLine $parent) use ($path, $resource, $method) {
    $losses = new Losses();
    $lock = (new Lock(new Key($resource), new SharedMemoryStore($path)))->keepAlive()->onLost($losses->note('lost'));
    $lock->$method();
    $parent->say('held');
    $parent->hear_exactly('await');
    $losses->await('lost');
    $parent->say('lost');
    return 0;
});
$before = microtime(true);
$one = $holder('r');
$one->hear_exactly('held');
$found = $store->inspect(new Key('r'));
$told = $found['holders'][0];
check_same(['r', 'exclusive', 1, 0], [$found['name'], $found['mode'], $found['holderCount'], $found['waiters']], 'held');
check_same([$one->pid, gethostname(), null], [$told['pid'], $told['host'], $told['remaining']], 'its holder');
check(str_contains($told['script'], basename(__FILE__)), "its script: $told[script]");
check($told['since'] > $before - 1 && $told['since'] < microtime(true) + 1, 'since when');
check(is_int($told['fencingToken']) && preg_match('/^[0-9a-f]{16}$/', $told['id']) === 1, 'token and id');

/* Others see the names: short ones whole, "..." stands behind a part of a long one. */
$names = ["nul\0byte", str_repeat('x', 64), str_repeat('y', 65)];
$locks = array_map(fn (string $name) => new Lock(new Key($name), $store), $names);
array_map(fn (Lock $lock) => $lock->acquireRead(), $locks);
$listed = array_column($store->listHeld(), null, 'name');
ksort($listed);
check_same(['nul' . "\0" . 'byte', 'r', str_repeat('x', 64), str_repeat('y', 64) . '...'], array_keys($listed), 'names');
$listed['r']['holders'][0]['since'] = $told['since']; // of a clock that ticks in milliseconds
check_same($found, $listed['r'], 'as inspect()');
check_same(['shared', null], [$listed["nul\0byte"]['mode'], $listed["nul\0byte"]['holders'][0]['fencingToken']], 'a reader');
unset($locks);
check_same(['r'], array_column($store->listHeld(), 'name'), 'one is left');

/* Without a note. */
ini_set('latch.holder_note', '0');
$quiet = fork(function (ParentLine $parent) use ($path) {
    ini_set('latch.holder_note', '0');
    $lock = new Lock(new Key('quiet'), new SharedMemoryStore($path));
    $lock->acquire();
    $parent->say('held');
    $parent->stay();
});
$quiet->hear_exactly('held');
$told = $store->inspect(new Key('quiet'))['holders'][0];
check_same([$quiet->pid, null, null], [$told['pid'], $told['host'], $told['script']], 'the process is known all the same');
ini_restore('latch.holder_note');
$quiet->kill();
$quiet->ending();
check_same(['r'], array_column($store->listHeld(), 'name'), 'a dead holder is not listed');

/* Taken away. */
$id = $found['holders'][0]['id'];
check_same(0, $store->forceRelease(new Key('r'), []), 'nobody is named');
check_same(0, $store->forceRelease(new Key('r'), ['0123456789abcdef', 'ffffffffffffffff']), 'others are named');
check_same(0, $store->forceRelease(new Key('s'), [$id]), 'another lock');
foreach ([[1], ['x'], [''], [$id, null]] as $wrong) {
    echo outcome(fn () => $store->forceRelease(new Key('r'), $wrong)), "\n";
}
$waiter = fork(fn () => (int) !(new Lock(new Key('r'), new SharedMemoryStore($path)))->acquire(true));
wait_until(fn () => $store->inspect(new Key('r'))['waiters'] === 1, 'somebody waits');
$one->say('await');
check_same(1, $store->forceRelease(new Key('r'), [$id]), 'taken away');
check_same('exit 0', $waiter->ending(), 'the waiter has had it');
$one->hear_exactly('lost');
check_same('exit 0', $one->ending(), 'its former holder');
check_same(0, $store->forceRelease(new Key('r'), [$id]), 'a second time');

$lock = new Lock(new Key('r'), $store);
$lock->acquire();
check_same(0, $store->forceRelease(new Key('r'), [$id]), 'a later holder keeps it');
check_same(1, $store->forceRelease(new Key('r'), array_column($store->inspect(new Key('r'))['holders'], 'id')), 'from this process');
check(!$lock->isHeld() && !$lock->isAcquired(), 'known at once');
$next = new Lock(new Key('r'), $store);
check($next->acquire(), 'the next one');
$lock->release();
check($next->isHeld() && !$lock->acquire(), 'keeps it, whatever the former one releases');

/* A number of readers, of which some are named. */
$next->release();
$readers = array_map(fn () => new Lock(new Key('r'), $store), range(1, 3));
array_map(fn (Lock $reader) => $reader->acquireRead(), $readers);
$ids = array_column($store->inspect(new Key('r'))['holders'], 'id');
check_same(2, $store->forceRelease(new Key('r'), [$ids[0], $ids[2]]), 'two of three');
check_same(1, count(array_filter($readers, fn (Lock $reader) => $reader->isHeld())), 'one is left');
echo "done\n";
--EXPECT--
Latch\Exception\InvalidArgumentException: Latch\Store\SharedMemoryStore::forceRelease(): Argument #2 ($holders) must be a list of ids as inspect() tells them
Latch\Exception\InvalidArgumentException: Latch\Store\SharedMemoryStore::forceRelease(): Argument #2 ($holders) must be a list of ids as inspect() tells them
Latch\Exception\InvalidArgumentException: Latch\Store\SharedMemoryStore::forceRelease(): Argument #2 ($holders) must be a list of ids as inspect() tells them
Latch\Exception\InvalidArgumentException: Latch\Store\SharedMemoryStore::forceRelease(): Argument #2 ($holders) must be a list of ids as inspect() tells them
done
