--TEST--
A handler that uses the very Lock object that waits gets an exception; the wait goes on
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

pcntl_async_signals(true);
$directory = temporary_directory();
['hold' => $hold, 'waits' => $waits] = ways_to_wait($directory)['flock'];
$store = new FlockStore($directory);

$calls = [
    'acquire' => fn ($lock) => $lock->acquire(),
    'acquire and wait' => fn ($lock) => $lock->acquire(true),
    'acquire with timeout' => fn ($lock) => $lock->acquire(true, 0.05),
    'acquireRead' => fn ($lock) => $lock->acquireRead(),
    'synchronized' => fn ($lock) => $lock->synchronized(fn () => check(false, 'called')),
    'a clone of it' => fn ($lock) => (clone $lock)->acquire(),
];
foreach ($calls as $name => $call) {
    $holder = $hold();
    $signaller = signaller($waits);
    $lock = new Lock(new Key('file'), $store);
    pcntl_signal(SIGUSR1, function () use ($lock, $call, $name, $holder) {
        try {
            $call($lock);
            echo "BROKEN: $name: no exception\n";
        } catch (Latch\Exception\LockAcquiringException $e) {
            Log::note('refused');
        }
        check(!$lock->isHeld(), "$name: not held");
        $holder->say('release');
    });
    Log::$events = [];
    $signaller->say((string) SIGUSR1);
    check($lock->acquire(true), "$name: acquired");
    check_same(['refused'], Log::$events, "$name: events");
    check($lock->isAcquired() && !is_free($directory, 'file'), "$name: held");
    $lock->release();
    check(is_free($directory, 'file'), "$name: released");
    $signaller->kill();
    $signaller->ending();
}

/* Methods that change nothing answer or refuse, but neither crash nor end the wait. */
$others = [
    'isAcquired' => fn ($lock) => $lock->isAcquired(),
    'isHeld' => fn ($lock) => $lock->isHeld(),
    'isExpired' => fn ($lock) => $lock->isExpired(),
    'release' => fn ($lock) => $lock->release(),
    'refresh' => fn ($lock) => $lock->refresh(10),
    'getRemainingLifetime' => fn ($lock) => $lock->getRemainingLifetime(),
    'var_dump' => fn ($lock) => print_r($lock, true),
    'serialize' => fn ($lock) => serialize($lock),
    'clone and end' => function ($lock) {
        $clone = clone $lock;
        unset($clone);
    },
];
foreach ($others as $name => $call) {
    $holder = $hold();
    $signaller = signaller($waits);
    $lock = new Lock(new Key('file'), $store);
    pcntl_signal(SIGUSR1, function () use ($lock, $call, $holder) {
        try {
            $call($lock);
        } catch (Latch\Exception\ExceptionInterface | BadMethodCallException) {
        }
        Log::note('handled');
        $holder->say('release');
    });
    Log::$events = [];
    $signaller->say((string) SIGUSR1);
    check($lock->acquire(true) && $lock->isAcquired() && !is_free($directory, 'file'), "$name: acquired");
    check_same(['handled'], Log::$events, "$name: events");
    $lock->release();
    check(is_free($directory, 'file'), "$name: released");
    $signaller->kill();
    $signaller->ending();
}
echo "done\n";
--EXPECT--
done
