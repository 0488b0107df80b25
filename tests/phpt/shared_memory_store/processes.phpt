--TEST--
SharedMemoryStore: processes exclude each other, wait in their order, and have at once what a killed process held or waited for
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\SharedMemoryStore;

const ROUNDS = 300;

$directory = temporary_directory();
$path = "$directory/locks";
$store = new SharedMemoryStore($path, 1000);
$lock = fn (string $resource = 'r') => new Lock(new Key($resource), new SharedMemoryStore($path));
$waiters = fn (int $count) => wait_until(fn () => $store->inspect(new Key('r'))['waiters'] === $count, "$count wait");

/* Nothing is lost of a number that all of them count up, each time by reading and writing it. */
file_put_contents("$directory/number", '0');
$children = array_map(fn () => fork(function () use ($lock, $directory) {
    $own = $lock();
    for ($round = 0; $round < ROUNDS; $round++) {
        $own->acquire(true);
        file_put_contents("$directory/number", 1 + (int) file_get_contents("$directory/number"));
        $own->release();
    }
    return 0;
}), range(1, 4));
foreach ($children as $child) {
    check_same('exit 0', $child->ending(), 'a counting process');
}
check_same((string) (4 * ROUNDS), file_get_contents("$directory/number"), 'all are counted');

/* In the order of coming; readers that come one after the other share the lock. */
$own = $lock();
$own->acquire();
$children = [];
foreach (['a' => 'acquire', 'b' => 'acquireRead', 'c' => 'acquireRead', 'd' => 'acquire', 'e' => 'acquireRead'] as $name => $method) {
    $children[$name] = fork(function (ParentLine $parent) use ($lock, $directory, $name, $method) {
        $mine = $lock();
        $mine->$method(true);
        file_put_contents("$directory/order", $name, FILE_APPEND);
        $parent->say('held');
        $parent->hear_exactly('release');
        $mine->release();
        return 0;
    });
    $waiters(count($children));
}
$held = fn (string ...$names) => array_map(fn (string $name) => $children[$name]->hear_exactly('held'), $names);
$state = function (string $mode, int $holders, int $waiting) use ($store) {
    $found = $store->inspect(new Key('r'));
    check_same([$mode, $holders, $waiting], [$found['mode'], $found['holderCount'], $found['waiters']], 'the state');
};
$own->release();
check(!$own->acquire() && !$own->acquireRead(), 'not before those that wait');
$held('a');
$state('exclusive', 1, 4);
$children['a']->say('release');
$held('b', 'c');
$state('shared', 2, 2);
check(!$own->acquireRead(), 'no reader overtakes a writer that waits');
$children['b']->say('release');
check_same('exit 0', $children['b']->ending(), 'b');
$state('shared', 1, 2);
$children['c']->say('release');
$held('d');
$state('exclusive', 1, 1);
$children['d']->say('release');
$held('e');
$children['e']->say('release');
check($own->acquire(true), 'behind them all');
check_same(1, preg_match('/^a(bc|cb)de$/', file_get_contents("$directory/order")), 'the order');
$own->release();

/* Killed: while it holds, while it waits, and a reader among others. */
$holder = latch_holder($lock);
$waiter = fork(fn () => (int) !$lock()->acquire(true));
$waiters(1);
$next = fork(fn () => $lock()->acquire(true) ? 0 : 1);
$waiters(2);
$waiter->kill();
check_same('signal 9', $waiter->ending(), 'the killed waiter');
$waiters(1);
$holder->kill();
check_same('signal 9', $holder->ending(), 'the killed holder');
check_same('exit 0', $next->ending(), 'the next one has it');
check($own->acquire(), 'and then it is free');
$own->acquireRead();
$reader = fork(function (ParentLine $parent) use ($lock) {
    $mine = $lock();
    $parent->say($mine->acquireRead() ? 'held' : 'refused');
    $parent->stay();
});
$reader->hear_exactly('held');
check(!$own->acquire(), 'no promotion beside a reader');
$reader->kill();
$reader->ending();
check($own->acquire(), 'promoted when that is dead');
$own->release();

/* A program that is started does not keep the lock, nor does the process that it replaces. */
$child = fork(function (ParentLine $parent) use ($lock) {
    $mine = $lock();
    $mine->acquire();
    $parent->say('held');
    $parent->hear_exactly('exec');
    pcntl_exec('/bin/sh', ['-c', 'read line; exit 7'], []);
});
$child->hear_exactly('held');
check(!$own->acquire(), 'held before the exec');
$child->say('exec');
check($own->acquire(true, PATIENCE), 'free after it');
$child->kill();
$child->ending();

/* Time-outs are kept, and leave no waiter. */
foreach (['acquire', 'acquireRead'] as $method) {
    $second = $lock();
    $begun = hrtime(true);
    check_same(false, $second->$method(true, 0.1), "$method() ends");
    check((hrtime(true) - $begun) / 1e9 >= 0.1, "$method() has waited");
    check_same(0, $store->inspect(new Key('r'))['waiters'], "$method() has left");
}
echo "done\n";
--EXPECT--
done
