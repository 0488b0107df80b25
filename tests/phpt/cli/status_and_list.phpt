--TEST--
latch status and latch list: free or held, how, and by whom; nothing is made by looking
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$store = "--store=flock://$directory";
$status = fn (string $resource = 'job') => latch_to_end('status', $store, $resource);
$list = fn () => latch_to_end('list', $store);

check_same("exit 0: free\n|", $status(), 'never locked');
check_same('exit 0: |', $list(), 'nothing was ever locked');
check_same(2, count(scandir($directory)), 'no file was made');
check_same("exit 0: free\n|", latch_to_end('status', "$store/missing/directory", 'job'), 'in a missing directory');
check_same('exit 0: |', latch_to_end('list', "$store/missing/directory"), 'in a missing directory');
check_same(2, count(scandir($directory)), 'no directory was made');

$run = latch_run_cat($store, 'job');
[$command] = children_of($run->pid);
$php = basename(readlink('/proc/self/exe'));
$comm = rtrim(file_get_contents("/proc/$run->pid/comm"));
check_same("exit 75: held, exclusive, by $run->pid ($comm), $command (cat)\n|", $status(), 'held');
check_same("exit 75: held, exclusive, by $run->pid ($comm), $command (cat)\n|", latch_to_end('status', $store, '--', 'job'), 'the same');
check_same("exit 0: free\n|", $status('other'), 'another one');
check_same("exit 0: exclusive\t$run->pid,$command\t" . lock_file($directory, 'job') . "\n|", $list(), 'listed');
$run->let_go()->ending();
check_same("exit 0: free\n|", $status(), 'released');
check_same('exit 0: |', $list(), 'released');
check(file_exists(lock_file($directory, 'job')), 'though its file is there');

// several, shared, of other programs; a waiting one is no holder
$foreign = holder($directory, 'job', LOCK_SH); // forked first: a child has all pipes that are open
$other = holder($directory, 'an other: job');
$lock = new Lock(new Key('job'), new FlockStore($directory));
$lock->acquireRead();
$reader = latch_run_cat($store, '--shared', 'job');
$waiting = latch('run', $store, '--wait', 'job', '--', 'true');
wait_until_it_waits($waiting->pid);
$pids = [posix_getpid(), $reader->pid, ...children_of($reader->pid), $foreign->pid];
sort($pids);
$names = array_map(fn (int $pid) => "$pid (" . rtrim(file_get_contents("/proc/$pid/comm")) . ')', $pids);
check_same('exit 75: held, shared, by ' . implode(', ', $names) . "\n|", $status(), 'held by many');
check_same(
    "exit 0: exclusive\t$other->pid\t" . lock_file($directory, 'an other: job') . "\n"
        . "shared\t" . implode(',', $pids) . "\t" . lock_file($directory, 'job') . "\n|",
    $list(),
    'two are listed, by name'
);
$lock->release();
$reader->let_go()->ending();
$foreign->say('release');
check_same('exit 0', $waiting->ending(), 'the waiting one');
check_same("exit 0: free\n|", $status(), 'all have released');
$other->kill();
$other->ending();
check_same('exit 0: |', $list(), 'all have released');

// what else lies about
symlink('/dev/null', lock_file($directory, 'link'));
mkdir(lock_file($directory, 'directory'));
touch("$directory/sf.strange.lock");
touch("$directory/other");
$message = 'latch: Failed to inspect the "link" lock: the lock file "' . lock_file($directory, 'link')
    . "\" is a symbolic link; remove it.\n";
check_same("exit 69: |$message", $status('link'), 'a link');
check(str_contains($status('directory'), 'is not a regular file; remove it'), 'a directory');
check_same('exit 0: |', $list(), 'no locks');

// a full pipe, a closed one and none at all do not matter
check_same('exit 75: |', (new Program(
    ['sh', '-c', '"$@" >&-', 'sh', ...latch_command('run', $store, 'a', '--', ...latch_command('status', $store, 'a'))]
))->let_go()->all(), 'closed standard output');
echo "done\n";
--EXPECT--
done
