--TEST--
A handler cannot suspend the fiber that waits; the wait goes on
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

pcntl_async_signals(true);
foreach (ways_to_wait(temporary_directory()) as $way => ['make' => $make, 'hold' => $hold, 'waits' => $waits]) {
    $holder = $hold();
    $signaller = signaller($waits);
    pcntl_signal(SIGUSR1, function () use ($holder) {
        try {
            Fiber::suspend();
        } catch (FiberError) {
            Log::note('not suspended');
        }
        $holder->say('release');
    });
    Log::$events = [];
    $lock = $make();
    $signaller->say((string) SIGUSR1);
    $fiber = new Fiber(fn () => $lock->acquire(true));
    $fiber->start();
    if (!$fiber->isTerminated()) { // should PHP ever allow it
        $fiber->resume();
    }
    check($fiber->getReturn() && $lock->isAcquired(), "$way: acquired");
    $lock->release();
    $signaller->kill();
    $signaller->ending();
}
echo "done\n";
--EXPECT--
done
