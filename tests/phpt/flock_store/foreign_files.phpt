--TEST--
A lock file of another user is locked all the same, where it can be read
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

if (posix_getuid() !== 0) {
    die("done\n"); // one user alone cannot show it
}
$directory = temporary_directory();
chmod($directory, 01777);
posix_mkfifo(lock_file($directory, 'FIFO'), 0);
chmod(lock_file($directory, 'FIFO'), 0444); // opened for reading alone, it would wait for a writer
foreach (['writable' => 0666, 'read-only' => 0444, 'unreadable' => 0600] as $name => $mode) {
    touch($file = lock_file($directory, $name));
    chmod($file, $mode);
}
$child = fork(function (ParentLine $parent) use ($directory) {
    posix_setgid(65534);
    posix_setuid(65534);
    $store = new FlockStore($directory);
    $locks = [];
    foreach (['writable', 'read-only', 'unreadable', 'FIFO'] as $name) {
        $before = what_is_open()['fds'];
        $locks[$name] = new Lock(new Key($name), $store);
        $parent->say("$name: " . outcome(fn () => $locks[$name]->acquire()));
        check(in_array($name, ['writable', 'read-only']) || $before === what_is_open()['fds'], 'nothing left open');
    }
    $parent->hear();
    return 0;
});
$child->hear_exactly('writable: true');
$child->hear_exactly('read-only: true');
foreach (['unreadable' => 'cannot be opened: Permission denied', 'FIFO' => 'is not a regular file; remove it'] as $name => $why) {
    $child->hear_exactly("$name: Latch\Exception\LockAcquiringException: Failed to acquire the \"$name\" lock: "
        . 'the lock file "' . lock_file($directory, $name) . "\" $why.");
}
check(!is_free($directory, 'writable') && !is_free($directory, 'read-only'), 'held');
$child->say('go');
$child->ending();
check(is_free($directory, 'writable') && is_free($directory, 'read-only'), 'free');
echo "done\n";
--EXPECT--
done
