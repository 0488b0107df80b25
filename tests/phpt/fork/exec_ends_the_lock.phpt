--TEST--
pcntl_exec() ends the locks of the program that it replaces
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$child = fork(function (ParentLine $parent) use ($directory) {
    $lock = new Lock(new Key('file'), new FlockStore($directory));
    $lock->acquire();
    $parent->say('held');
    $parent->hear();
    pcntl_exec('/bin/sleep', ['100']);
    $parent->say('exec failed');
});
$child->hear_exactly('held');
check(!is_free($directory, 'file'), 'held before');
$child->say('go');
wait_until(fn () => str_contains(file_get_contents("/proc/$child->pid/cmdline"), 'sleep'), 'exec');
wait_until(fn () => is_free($directory, 'file'), 'the lock is free');
check(posix_kill($child->pid, 0), 'the new program lives');
$child->kill();
check_same('signal 9', $child->ending(), 'the ending');
echo "done\n";
--EXPECT--
done
