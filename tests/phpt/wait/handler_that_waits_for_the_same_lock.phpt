--TEST--
A handler that waits for what the interrupted code waits for gets an exception, not a hang
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\Key;
use Latch\Lock;
use Latch\Store\FlockStore;

$directory = temporary_directory();
$holder = holder($directory, 'file');
$me = getmypid();
fork(function () use ($me) {
    wait_until_it_waits($me);
    posix_kill($me, SIGUSR1);
});
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, fn () => (new Lock(new Key('file'), new FlockStore($directory)))->acquire(true));
try {
    (new Lock(new Key('file'), new FlockStore($directory)))->acquire(true, 30.0);
} catch (Latch\Exception\LockAcquiringException $e) {
    echo preg_replace('/;.*/', '', $e->getMessage()), "\n";
}
?>
--EXPECT--
Failed to acquire the "file" lock: the lock is held by this very thread, through another key, so that the wait would never end
