--TEST--
A signal handler runs while acquire(true) waits, not after
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

pcntl_async_signals(true);
foreach (ways_to_wait(temporary_directory()) as $way => ['make' => $make, 'hold' => $hold, 'waits' => $waits]) {
    foreach ([SIGTERM, SIGALRM, SIGUSR1] as $signal) {
        foreach ([
            'acquire' => fn ($lock) => $lock->acquire(true),
            'acquire with timeout' => fn ($lock) => $lock->acquire(true, PATIENCE),
            'acquireRead' => fn ($lock) => $lock->acquireRead(true),
            'synchronized' => fn ($lock) => $lock->synchronized(fn () => true),
        ] as $name => $call) {
            Log::$events = [];
            $holder = $hold();
            $signaller = signaller($waits);
            /* Only the handler has the lock released: if it came after the wait, that would not end. */
            pcntl_signal($signal, function () use ($holder) {
                Log::note('handler');
                $holder->say('release');
                $holder->hear_exactly('released');
            });
            $signaller->say((string) $signal);
            $lock = $make();
            check($call($lock), "$way: $name() got the lock");
            Log::note('acquired');
            check_same(['handler', 'acquired'], Log::$events, "$way: the order of events, $name()");
            $lock->release();
            pcntl_signal($signal, SIG_DFL);
            $signaller->let_go();
            $signaller->kill();
            $signaller->ending();
        }
    }
}
echo "done\n";
--EXPECT--
done
