--TEST--
A wait that only this very thread could end is an exception, not a wait for ever
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Exception\LockAcquiringException;
use Latch\Store\{FlockStore, InMemoryStore, SharedMemoryStore, StoreFactory};

function refused(Lock $lock, string $method, string $case, mixed ...$arguments): void
{
    try {
        $lock->$method(...$arguments);
        echo "BROKEN: $case: $method() has returned\n";
    } catch (LockAcquiringException $e) {
        $said = $e->getMessage() . ' / ' . $e->getPrevious()?->getMessage();
        check(str_contains($said, 'this very thread'), "$case: $said");
    }
    check(!$lock->isHeld() && !$lock->isAcquired(), "$case: $method() has taken nothing");
}

$directory = temporary_directory();
$before = what_is_open();
foreach ([
    'flock' => [new FlockStore($directory), new FlockStore("$directory/../" . basename($directory))],
    'shared memory' => [new SharedMemoryStore("$directory/memory", 100), StoreFactory::createStore("shm://$directory/memory")],
    'in memory' => [$memory = new InMemoryStore(), $memory],
] as $name => [$store, $same]) {
    foreach (['acquire' => ['acquire', 'acquireRead', 'synchronized'], 'acquireRead' => ['acquire', 'synchronized']]
        as $hold => $methods) {
        $first = new Lock(new Key('resource'), $store);
        $first->$hold();
        foreach ($methods as $method) {
            $arguments = $method === 'synchronized' ? [fn () => check(false, 'called')] : [true];
            refused(new Lock(new Key('resource'), $same), $method, "$name, $hold", ...$arguments);

            /* Two fibers. */
            $second = new Lock(new Key('resource'), $same);
            $holder = new Fiber(function () use ($first) {
                Fiber::suspend();
                $first->release();
            });
            $holder->start();
            $waiter = new Fiber(fn () => refused($second, $method, "$name, fibers, $hold", ...$arguments));
            $waiter->start();
            check($waiter->isTerminated(), 'the fiber has ended');
            unset($holder);
            gc_collect_cycles();
            check($first->isAcquired(), "$name: the first holder has it still");
        }
        /* With a timeout it is a plain false. */
        $second = new Lock(new Key('resource'), $same);
        check_same(false, $second->acquire(true, 0.02), "$name, $hold: with timeout");
        check_same(false, $second->acquire(), "$name, $hold: without waiting");
        $first->release();
        check($second->acquire(true), "$name, $hold: free afterwards");
        $second->release();
    }
}
unset($first, $second, $store, $same, $memory);
check_same($before['threads'], what_is_open()['threads'], 'threads');
echo "done\n";
--EXPECT--
done
