--TEST--
The thread that waits in the kernel takes no signal: PHP's handlers run in PHP's thread
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$holder = holder($directory, 'file');
$pid = getmypid();
$observer = fork(function (ParentLine $parent) use ($pid, $holder) {
    wait_until_it_waits($pid);
    foreach (array_diff(scandir("/proc/$pid/task"), ['.', '..']) as $thread) {
        preg_match('/^SigBlk:\s+(\w+)$/m', file_get_contents("/proc/$pid/task/$thread/status"), $match);
        if ((int) $thread !== $pid) {
            $free = [];
            foreach ([SIGHUP, SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGCHLD, SIGPROF] as $signal) {
                if ((hexdec(substr($match[1], -8)) & (1 << ($signal - 1))) === 0) {
                    $free[] = $signal;
                }
            }
            $parent->say('signals of the helper: ' . implode(' ', $free));
        }
    }
    $holder->say('release');
    return 0;
});
$lock = new Lock(new Key('file'), new FlockStore($directory));
check($lock->acquire(true), 'acquired');
check_same('signals of the helper: ', $observer->hear(), 'the helper');
echo "done\n";
--EXPECT--
done
