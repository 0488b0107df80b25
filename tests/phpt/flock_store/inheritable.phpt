--TEST--
A FlockStore with inheritable: true: started programs keep its locks until they are released or the last one has ended
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$pass_on = fn () => new FlockStore($directory, inheritable: true);
$streams = [1 => ['file', '/dev/null', 'w'], 2 => ['file', '/dev/null', 'w']];

/** Starts a `cat` that ends when its input is closed; returns when it is one. */
function start_cat(array $streams, &$input): int
{
    static $processes = [];
    $processes[] = $process = proc_open(['cat'], [0 => ['pipe', 'r']] + $streams, $pipes);
    $input = $pipes[0];
    $pid = proc_get_status($process)['pid'];
    wait_until(fn () => preg_match('/\bcat\0$/D', (string) @file_get_contents("/proc/$pid/cmdline")) === 1,
        'the command is started');
    return $pid;
}

/** What a process has open; a program that is just starting opens and closes this and that. */
function open_files(int $pid): array
{
    return array_map(fn ($fd) => (string) @readlink($fd), glob("/proc/$pid/fd/*"));
}

// killed with two commands started: the lock is held until both have ended
foreach (['acquire' => LOCK_EX, 'acquireRead' => LOCK_SH] as $method => $operation) {
    foreach ([true, false] as $automatic) {
        $case = "$method, " . ($automatic ? 'automatic' : 'by hand');
        $holder = fork(function (ParentLine $parent) use ($pass_on, $streams, $method, $automatic) {
            $lock = new Lock(new Key('job'), $pass_on(), null, $automatic);
            $lock->$method();
            $started = [];
            foreach ([1, 2] as $at) {
                // each lives as long as the test holds the other end of its input
                $started[] = start_cat($streams, $input[$at]);
            }
            $parent->say(implode(' ', $started));
            $parent->hear();
        });
        [$one, $other] = array_map('intval', explode(' ', $holder->hear()));
        check(!is_free($directory, 'job'), "held by the parent ($case)");
        posix_kill($one, SIGSTOP); // the end of their input shall not end them
        posix_kill($other, SIGSTOP);
        $holder->kill();
        check_same('signal 9', $holder->ending(), 'the ending');
        check(!is_free($directory, 'job'), "held by the two ($case)");
        check_same($operation === LOCK_SH, is_free($directory, 'job', LOCK_SH), "as it was ($case)");
        posix_kill($one, SIGKILL);
        wait_until(fn () => glob("/proc/$one/fd/*") === [], 'one has ended');
        check(!is_free($directory, 'job'), "held by the other one ($case)");
        posix_kill($other, SIGKILL);
        wait_until(fn () => is_free($directory, 'job'), "free ($case)");
    }
}

// released: they do not keep it, and what they have open is never locked again by us
$store = $pass_on();
$lock = new Lock(new Key('job'), $store);
foreach (['release' => function () use (&$lock) {
    $lock->release();
}, 'end' => function () use (&$lock, $store) {
    $lock = new Lock(new Key('job'), $store);
}] as $how => $end) {
    $lock->acquire();
    check($lock->isHeld(), "held ($how)");
    $pid = start_cat($streams, $input);
    check(glob("/proc/$pid/fd/*") !== [], 'the command lives');
    check(in_array(lock_file($directory, 'job'), open_files($pid), true), 'and has the file');
    check($lock->isAcquired() && !is_free($directory, 'job'), "acquired beside the command ($how)");
    $end();
    check(is_free($directory, 'job'), "free, though the command lives ($how)");
    check(!in_array(lock_file($directory, 'job'), open_files(getmypid()), true), "the file is closed ($how)");
    fclose($input);
}

// promoted, demoted, waited for: passed on as well
$holder = holder($directory, 'job');
$waiting = fork(function (ParentLine $parent) use ($pass_on, $streams) {
    $lock = new Lock(new Key('job'), $pass_on());
    $lock->acquireRead(true);
    $lock->acquire(true);
    $parent->say((string) start_cat($streams, $input));
    $parent->hear();
});
wait_until_it_waits($waiting->pid);
$holder->say('release');
$pid = (int) $waiting->hear();
posix_kill($pid, SIGSTOP);
$waiting->kill();
$waiting->ending();
check(!is_free($directory, 'job', LOCK_SH), 'exclusively held by the command');
posix_kill($pid, SIGKILL);
wait_until(fn () => is_free($directory, 'job'), 'free');

// by the store's own methods, too; and not without the option, in the same directory
$key = new Key('job');
$store->save($key);
$pid = start_cat($streams, $input);
check(in_array(lock_file($directory, 'job'), open_files($pid), true), 'save()');
$store->delete($key);
$lock = new Lock(new Key('job'), new FlockStore($directory));
$lock->acquire();
fclose($input);
$pid = start_cat($streams, $input);
check(!in_array(lock_file($directory, 'job'), open_files($pid), true), 'off by default');
fclose($input);
echo "done\n";
--EXPECT--
done
