--TEST--
A handler may take, wait for and release other locks while its script waits
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore};

pcntl_async_signals(true);
$directory = temporary_directory();
$other = temporary_directory();
foreach (ways_to_wait($directory) as $way => ['make' => $make, 'hold' => $hold, 'waits' => $waits]) {
    $holder = $hold();
    $second_holder = holder($other, 'other');
    $signaller = signaller($waits);
    $kept = [];
    pcntl_signal(SIGUSR1, function () use ($other, $holder, $second_holder, $way, &$kept) {
        $store = new FlockStore($other);
        foreach ([new FlockStore($other), new InMemoryStore()] as $free) {
            $lock = new Lock(new Key('free'), $free);
            check($lock->acquire() && $lock->isAcquired(), "$way: takes a free lock");
            $kept[] = $lock;
        }
        $lock = new Lock(new Key('other'), $store);
        check(!$lock->acquire(), "$way: the other lock is held");
        check(!$lock->acquire(true, 0.05), "$way: a wait within the wait ends at its timeout");
        $second_holder->say('release');
        check($lock->acquire(true), "$way: a wait within the wait ends with the lock");
        $lock->release();
        $kept[] = $lock;
        $holder->say('release');
        Log::note('handled');
    });
    Log::$events = [];
    $lock = $make();
    $signaller->say((string) SIGUSR1);
    check($lock->acquire(true), "$way: acquired");
    check_same(['handled'], Log::$events, "$way: events");
    check($kept[0]->isAcquired() && $kept[1]->isAcquired(), "$way: the handler's locks are held");
    $lock->release();
    $signaller->kill();
    $signaller->ending();
    $kept = [];
    check(is_free($other, 'free') && is_free($other, 'other'), "$way: all is free");
}
echo "done\n";
--EXPECT--
done
