--TEST--
A waiter gets the lock when its holder releases it or is killed
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$pid = getmypid();
foreach (['release', 'die'] as $how) {
    foreach (['acquire', 'acquireRead'] as $method) {
        $holder = fork(function (ParentLine $parent) use ($directory) {
            $lock = new Lock(new Key('file'), new FlockStore($directory));
            $lock->acquire();
            $parent->say('held');
            if ($parent->hear() === 'release') {
                $lock->release();
                $parent->hear();
            }
            posix_kill(posix_getpid(), SIGKILL);
        });
        $holder->hear_exactly('held');
        $waker = fork(function () use ($holder, $pid, $how) {
            wait_until_it_waits($pid);
            $holder->say($how);
            return 0;
        });
        $lock = new Lock(new Key('file'), new FlockStore($directory));
        check($lock->$method(true), "$method after $how");
        check($lock->isAcquired(), "$method after $how");
        $lock->release();
        $holder->kill();
        $holder->ending();
        $waker->ending();
    }
}
echo "done\n";
--EXPECT--
done
