--TEST--
FlockStore::inspect() and listHeld(): who holds, asked without disturbing anybody and without making files
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore, NullStore};

$directory = temporary_directory();
$store = new FlockStore($directory);
$job = new Key('job');
$file = lock_file($directory, 'job');
$found = fn (?string $mode, int ...$pids) => [
    'name' => $file,
    'mode' => $mode,
    'holders' => array_map(fn (int $pid) => ['pid' => $pid], $pids),
];
$inspect = function () use ($store, $job) {
    $found = $store->inspect($job);
    sort($found['holders']);
    return $found;
};

check_same($found(null), $inspect(), 'never locked');
check_same([], $store->listHeld(), 'nothing');
check_same([], glob("$directory/*"), 'no file was made');

$lock = new Lock($job, $store);
$lock->acquire();
check_same($found('exclusive', getmypid()), $inspect(), 'held by this process');
check_same([$found('exclusive', getmypid())], $store->listHeld(), 'held by this process');
check($lock->isHeld(), 'and still is');
$lock->acquireRead();
check_same($found('shared', getmypid()), $inspect(), 'shared');
$lock->release();
check_same($found(null), $inspect(), 'released');
check_same([], $store->listHeld(), 'released');

// another process, another program, two readers
$one = holder($directory, 'job', LOCK_SH);
$two = holder($directory, 'job', LOCK_SH);
$other = holder($directory, 'other');
check_same($found('shared', ...(fn (array $pids) => [min($pids), max($pids)])([$one->pid, $two->pid])), $inspect(), 'two readers');
$list = $store->listHeld();
usort($list, fn ($a, $b) => $a['name'] <=> $b['name']);
check_same([$file, lock_file($directory, 'other')], array_column($list, 'name'), 'two locks');
check_same(['shared', 'exclusive'], array_column($list, 'mode'), 'two locks');
check_same([['pid' => $other->pid]], $list[1]['holders'], 'two locks');
foreach ([$one, $two, $other] as $child) {
    $child->kill();
    $child->ending();
}

// a holder's forked child has the descriptor, too: both hold; the taker dies, the child goes on
$daemon = fork(function (ParentLine $parent) use ($store) {
    $key = new Key('job');
    $store->save($key);
    $child = fork(function (ParentLine $grandparent) {
        $grandparent->stay();
    });
    $parent->say((string) $child->pid);
    $parent->hear();
    posix_kill(posix_getpid(), SIGSTOP);
});
$child = (int) $daemon->hear();
check_same($found('exclusive', min($daemon->pid, $child), max($daemon->pid, $child)), $inspect(), 'both');
posix_kill($child, SIGSTOP);
$daemon->kill();
$daemon->ending();
check_same($found('exclusive', $child), $inspect(), 'whose taker is dead');
check_same([$found('exclusive', $child)], $store->listHeld(), 'whose taker is dead');
posix_kill($child, SIGKILL);
wait_until(fn () => is_free($directory, 'job'), 'free');

// one that nobody sees: the holder is another user's, and so dead that /proc/locks forgot it
if (posix_getuid() === 0) {
    $status = fn () => fork(function (ParentLine $parent) use ($store, $job) {
        posix_setgid(65534);
        posix_setuid(65534);
        $found = $store->inspect($job);
        $parent->say(json_encode([$found['mode'], array_column($found['holders'], 'pid')]));
        return 0;
    })->hear();
    foreach (['exclusive' => LOCK_EX, 'shared' => LOCK_SH] as $mode => $operation) {
        $taker = holder($directory, 'job', $operation);
        check_same("[\"$mode\",[$taker->pid]]", $status(), "another user's process that took it itself, $mode");
        $taker->kill();
        $taker->ending();
        $taker = fork(function (ParentLine $parent) use ($directory, $operation) {
            $file = fopen(lock_file($directory, 'job'), 'c+');
            flock($file, $operation);
            $child = fork(fn (ParentLine $taker) => $taker->stay());
            posix_kill($child->pid, SIGSTOP);
            $parent->say((string) $child->pid);
            posix_kill(posix_getpid(), SIGKILL);
        });
        $child = (int) $taker->hear();
        check_same('signal 9', $taker->ending(), 'the taker is dead');
        check_same("[\"$mode\",[]]", $status(), "held $mode by nobody that can be seen");
        posix_kill($child, SIGKILL);
        wait_until(fn () => is_free($directory, 'job'), 'free');
        check_same('[null,[]]', $status(), 'free');
    }
}

// what else stands in the lock's place
unlink($file);
symlink('/dev/null', $file);
check_same(
    "Latch\\Exception\\LockStorageException: Failed to inspect the \"job\" lock: the lock file \"$file\" is a symbolic link; remove it.",
    outcome(fn () => $store->inspect($job)),
    'a link'
);
unlink($file);
mkdir($file);
check_same(
    "Latch\\Exception\\LockStorageException: Failed to inspect the \"job\" lock: the lock file \"$file\" is not a regular file; remove it.",
    outcome(fn () => $store->inspect($job)),
    'a directory'
);
check_same([], $store->listHeld(), 'neither is listed');
rmdir($file);
$gone = new FlockStore("$directory/gone");
rmdir("$directory/gone");
check_same($found(null)['mode'], $gone->inspect($job)['mode'], 'in a directory that has gone');
check_same(
    "Latch\\Exception\\LockStorageException: Failed to list the locks: the lock directory \"$directory/gone\" cannot be read: No such file or directory.",
    outcome(fn () => $gone->listHeld()),
    'in a directory that has gone'
);

// the other stores
$memory = new InMemoryStore();
$null = new NullStore();
$lock = new Lock($job, $memory);
$nobody = ['name' => '', 'mode' => null, 'holders' => []];
check_same($nobody, $memory->inspect($job), 'in memory, free');
$lock->acquireRead();
check_same(['name' => '', 'mode' => 'shared', 'holders' => [['pid' => getmypid()]]], $memory->inspect(new Key('job')), 'in memory, shared');
$lock->acquire();
check_same(['name' => '', 'mode' => 'exclusive', 'holders' => [['pid' => getmypid()]]], $memory->inspect($job), 'in memory, exclusive');
$lock->release();
check_same($nobody, $memory->inspect($job), 'in memory, released');
(new Lock($job, $null))->acquire();
check_same($nobody, $null->inspect($job), 'NullStore');
echo "done\n";
--EXPECT--
done
