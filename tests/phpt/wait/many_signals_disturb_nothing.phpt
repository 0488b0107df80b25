--TEST--
A storm of signals neither ends a wait nor lets it end without the lock
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

pcntl_async_signals(true);
foreach (ways_to_wait(temporary_directory()) as $way => ['make' => $make, 'hold' => $hold, 'waits' => $waits, 'free' => $free]) {
    $holder = $hold();
    $handled = 0;
    pcntl_signal(SIGUSR1, function () use (&$handled, $holder) {
        if (++$handled === 50) {
            $holder->say('release');
        }
    });
    $pid = getmypid();
    $storm = fork(function () use ($pid, $waits) {
        wait_until(fn () => $waits($pid), 'it waits');
        while (posix_getppid() === $pid) {
            posix_kill($pid, SIGUSR1);
            usleep(500);
        }
        return 0;
    });
    $lock = $make();
    check($lock->acquire(true), "$way: acquired");
    check($handled >= 50 && !$free(), "$way: after the release, not before");
    $storm->kill();
    $storm->ending();
    $lock->release();
}
echo "done\n";
--EXPECT--
done
