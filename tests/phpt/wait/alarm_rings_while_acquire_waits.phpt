--TEST--
pcntl_alarm() rings while acquire(true) waits, and can ring again
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$holder = holder($directory, 'file');
$lock = new Lock(new Key('file'), new FlockStore($directory));
pcntl_async_signals(true);
pcntl_signal(SIGALRM, function () use ($holder) {
    Log::note('alarm');
    if (count(Log::$events) === 1) {
        pcntl_alarm(1);
    } else {
        $holder->say('release');
    }
});
pcntl_alarm(1);
check($lock->acquire(true), 'acquired');
check_same(['alarm', 'alarm'], Log::$events, 'events');
echo "done\n";
--EXPECT--
done
