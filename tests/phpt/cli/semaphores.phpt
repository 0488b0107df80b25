--TEST--
latch run and status with semaphores: they exclude, wait, belong to a project, and end with latch itself
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
use Latch\Store\SemaphoreStore;

$project = 'latch phpt/' . bin2hex(random_bytes(6));
$store = '--store=semaphore://' . rawurlencode($project);
$lock = new Lock(new Key('job'), new SemaphoreStore($project));

check_same("exit 0: free\n|", latch_to_end('status', $store, 'job'), 'never locked');
$program = latch_run_cat($store, 'job');
check(!$lock->acquire(), 'PHP is excluded');
check_names_holder($program->pid, 'job', latch_to_end('run', $store, 'job', '--', 'echo', 'no'), 'so is latch');
check_same('exit 75: |', latch_to_end('run', $store, '-q', '--wait=0.1', 'job', '--', 'echo', 'no'), 'for a while');
check_same("exit 0: yes\n|", latch_to_end('run', "{$store}x", 'job', '--', 'echo', 'yes'), 'another project');
$comm = rtrim(file_get_contents("/proc/$program->pid/comm"));
check_same("exit 75: held, exclusive, by $program->pid ($comm)\n|", latch_to_end('status', $store, 'job'), 'held');
$waiting = latch('run', $store, '--wait', 'job', '--', 'echo', 'next');
wait_until(fn () => sleeps_in_a_semaphore($waiting->pid), 'it waits');
check_same('', $waiting->out(), 'not yet');
$program->let_go()->ending();
check_same("exit 0: next\n|", $waiting->all(), 'the next one');

// a signal while it waits
$lock->acquire();
$waiting = latch('run', $store, '--wait', 'job', '--', 'echo', 'no');
wait_until(fn () => sleeps_in_a_semaphore($waiting->pid), 'it waits');
check_same('exit 143: |', $waiting->kill(SIGTERM)->all(), 'SIGTERM while waiting');
$lock->release();
check($lock->acquire(), 'nothing was taken');
$lock->release();

// killed: the kernel frees the semaphore, the command goes on without
$program = latch_run_cat($store, 'job');
[$command] = children_of($program->pid);
check_same('signal 9', $program->kill(SIGKILL)->ending(), 'latch is killed');
check(posix_kill($command, 0), 'the command lives');
check($lock->acquire(), 'and the lock is free');
$lock->release();
$program->let_go();
check_same("exit 0: yes\n|", latch_to_end('run', $store, 'job', '--', 'echo', 'yes'), 'and can be used again');

// the semaphore is taken away
$program = latch_run_cat($store, 'job');
$key = unpack('i', hash('xxh128', "{$project}job", true))[1];
preg_match("/^ *$key +(\\d+)/m", file_get_contents('/proc/sysvipc/sem'), $match);
exec("ipcrm -s $match[1]");
check_same(
    "exit 76: running\n|latch: the lock \"job\" was lost: what held it in its store has ended; the command is to end\n",
    $program->all(),
    'the semaphore is taken away'
);
echo "done\n";
--EXPECT--
done
