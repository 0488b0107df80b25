--TEST--
acquire() with a timeout returns false and leaves nothing: another process has the lock at once
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

$directory = temporary_directory();
foreach (ways_to_wait($directory) as $way => ['make' => $make, 'hold' => $hold, 'free' => $free]) {
    foreach ([
        'acquire' => fn ($lock) => $lock->acquire(true, 0.05),
        'acquireRead' => fn ($lock) => $lock->acquireRead(true, 0.05),
        'acquire, 0 seconds' => fn ($lock) => $lock->acquire(true, 0),
        'acquire, 1 ns' => fn ($lock) => $lock->acquire(true, 1e-9),
        'synchronized' => function ($lock) {
            try {
                $lock->synchronized(fn () => check(false, 'called'), 0.05);
            } catch (Latch\Exception\LockConflictedException) {
                return false;
            }
        },
    ] as $name => $call) {
        $holder = $hold();
        $before = what_is_open();
        $lock = $make();
        check_same(false, $call($lock), "$way: $name returns");
        check(!$lock->isHeld() && !$lock->isAcquired(), "$way: $name has taken nothing");
        check_same($before['threads'], what_is_open()['threads'], "$way: $name, threads");
        $holder->say('release');
        $holder->hear_exactly('released');
        check($free(), "$way: free for others after $name");
        $next = $hold();
        check(!$lock->acquire(), "$way: another process has it");
        $next->say('release');
        $next->hear_exactly('released');
        check($lock->acquire(true, 30), "$way: the same object can take it then");
        $lock->release();
        $holder->ending();
        $next->ending();
    }
}
echo "done\n";
--EXPECT--
done
