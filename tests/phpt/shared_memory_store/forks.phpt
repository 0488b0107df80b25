--TEST--
SharedMemoryStore: a forked child holds nothing of its parent's, and takes locks of its own by the same objects
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\SharedMemoryStore;

$path = temporary_directory() . '/locks';
$store = new SharedMemoryStore($path, 1000);
$lock = new Lock(new Key('r'), $store);
$other = new Lock(new Key('s'), $store);
$lock->acquire();
$before = what_is_open();

$child = fork(function (ParentLine $parent) use ($lock, $other, $store) {
    $parent->say(json_encode([$lock->isHeld(), $lock->isAcquired(), $lock->acquire(), $lock->acquire(true, 0.02), $other->acquire()]));
    $parent->hear_exactly('end');
    return 0;
});
check_same('[false,false,false,false,true]', $child->hear(), 'in the child');
check(!$other->acquire() && $lock->isHeld(), 'in the parent meanwhile');
$pids = array_column(array_merge(...array_column($store->listHeld(), 'holders')), 'pid');
sort($pids);
check_same([getmypid(), $child->pid], $pids, 'holders');
$child->say('end');
check_same('exit 0', $child->ending(), 'the child');
check($other->acquire() && $lock->isHeld() && $lock->isAcquired(), 'in the parent afterwards');
$other->release();

/* The parent dies, and its child lives on: the lock is free. */
$child = fork(function (ParentLine $parent) use ($path) {
    $lock = new Lock(new Key('t'), new SharedMemoryStore($path));
    $lock->acquire();
    $grandchild = fork(fn (ParentLine $over) => $parent->stay());
    $parent->say("held beside $grandchild->pid");
    posix_kill(getmypid(), SIGKILL);
});
preg_match('/^held beside (\d+)$/', (string) $child->hear(), $match);
check_same('signal 9', $child->ending(), 'the killed parent');
check((new Lock(new Key('t'), $store))->acquire(true, PATIENCE), 'free');
check(posix_kill((int) $match[1], 0), 'although its child lives');
$child->let_go();

/* A wait that is going on when its process forks is the parent's: the child cannot end it. */
$holder = latch_holder(fn () => new Lock(new Key('u'), new SharedMemoryStore($path)));
pcntl_async_signals(true);
$forked = null;
pcntl_signal(SIGUSR1, function () use (&$forked, $holder) {
    $pid = pcntl_fork();
    if ($pid === 0) {
        posix_kill(getmypid(), SIGKILL);
    }
    pcntl_waitpid($pid, $status);
    $forked = $pid;
    $holder->say('release');
    $holder->hear_exactly('released');
});
$signaller = signaller(fn () => $store->inspect(new Key('u'))['waiters'] > 0);
$signaller->say((string) SIGUSR1);
$waiting = new Lock(new Key('u'), $store);
check($waiting->acquire(true) && $waiting->isHeld() && $forked !== null, 'the wait has gone on');
$signaller->let_go();
$signaller->kill();
$signaller->ending();

/* Descriptors do not pile up, however many children there were, and files. */
pcntl_signal(SIGUSR1, SIG_DFL);
unset($waiting, $holder, $signaller, $child);
for ($round = 0; $round < 20; $round++) {
    $many = new SharedMemoryStore("$path.$round", 100);
    (new Lock(new Key('r'), $many))->acquire();
    unset($many);
}
check(what_is_open()['fds'] <= $before['fds'] + 8, 'open files: ' . what_is_open()['fds'] . " after $before[fds]");
echo "done\n";
--EXPECT--
done
