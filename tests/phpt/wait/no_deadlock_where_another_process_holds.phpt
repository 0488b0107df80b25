--TEST--
A wait for another process is no deadlock, also when this process has a part in it
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$store = new FlockStore($directory);

/* It holds another resource; a file of the same name in another directory. */
$other = new Lock(new Key('other'), $store);
$other->acquire();
$elsewhere = new Lock(new Key('resource'), new FlockStore(temporary_directory()));
$elsewhere->acquire();
$holder = holder($directory, 'resource');
$pid = getmypid();
$lock = new Lock(new Key('resource'), $store);
$waker = fork(function () use ($holder, $pid) {
    wait_until_it_waits($pid);
    $holder->say('release');
    return 0;
});
check($lock->acquire(true), 'acquired from another process');
$lock->release();

/* It reads itself, and so does another process: that one only has to end. */
$holder = holder($directory, 'resource', LOCK_SH);
check($lock->acquireRead(), 'reads along');
$waker = fork(function () use ($holder, $pid) {
    wait_until_it_waits($pid);
    $holder->say('release');
    return 0;
});
check($lock->acquire(true), 'promoted when the other reader had gone');
$lock->release();

/* It wants to read what another process writes, and reads another key already. */
$holder = holder($directory, 'resource');
$waker = fork(function () use ($holder, $pid) {
    wait_until_it_waits($pid);
    $holder->say('release');
    return 0;
});
check($lock->acquireRead(true), 'reads when the writer has gone');
check((new Lock(new Key('resource'), $store))->acquireRead(true), 'a second reader of the same thread needs not wait');
echo "done\n";
--EXPECT--
done
