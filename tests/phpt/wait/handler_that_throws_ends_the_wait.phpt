--TEST--
A handler's exception ends the wait, as it is, and nothing is taken
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

class FromHandler extends Exception
{
}

class ErrorFromHandler extends Error
{
}

pcntl_async_signals(true);
$directory = temporary_directory();
foreach (ways_to_wait($directory) as $way => ['make' => $make, 'hold' => $hold, 'waits' => $waits, 'free' => $free]) {
    foreach ([FromHandler::class, ErrorFromHandler::class, Latch\Exception\LockConflictedException::class]
        as $class) {
        foreach ([
            'acquire' => fn ($lock) => $lock->acquire(true),
            'acquire with timeout' => fn ($lock) => $lock->acquire(true, PATIENCE),
            'acquireRead' => fn ($lock) => $lock->acquireRead(true),
            'synchronized' => fn ($lock) => $lock->synchronized(fn () => check(false, 'not called')),
        ] as $name => $call) {
            $holder = $hold();
            $before = what_is_open();
            $signaller = signaller($waits);
            $thrown = null;
            pcntl_signal(SIGUSR1, function () use ($class, &$thrown) {
                throw $thrown = new $class('from the handler');
            });
            $lock = $make();
            $signaller->say((string) SIGUSR1);
            $caught = null;
            try {
                $call($lock);
            } catch (Throwable $e) {
                $caught = $e;
            }
            check($thrown !== null && $caught === $thrown, "$way, $name(): the handler's own $class arrives, not "
                . ($caught ? get_class($caught) . ' ' . $caught->getMessage() : 'nothing'));
            check_same(null, $caught?->getPrevious(), "$way, $name(): previous exception");
            check(!$lock->isHeld() && !$lock->isAcquired(), "$way, $name(): nothing is taken");
            $signaller->let_go();
            $signaller->kill();
            $signaller->ending();
            $holder->say('release');
            $holder->hear_exactly('released');
            check($free(), "$way, $name(): the lock is free once its holder has released it");
            check($lock->acquire(), "$way, $name(): the same object can take it then");
            $lock->release();
            $holder->ending();
            unset($lock, $e, $caught, $thrown);
            unset($signaller, $holder);
            gc_collect_cycles();
            check_same($before['threads'], what_is_open()['threads'], "$way, $name(): threads");
        }
    }
}
pcntl_signal(SIGUSR1, SIG_DFL);
echo "done\n";
--EXPECT--
done
