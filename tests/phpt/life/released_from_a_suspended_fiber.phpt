--TEST--
A lock in a Fiber that is never resumed is released with it
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$key = new Key('file');
$fiber = new Fiber(function () use ($directory, $key) {
    $lock = new Lock($key, new FlockStore($directory));
    $lock->acquire();
    Fiber::suspend();
    echo "never\n";
});
$fiber->start();
check(!is_free($directory, 'file'), 'held while the fiber lives');
unset($fiber);
gc_collect_cycles();
check(is_free($directory, 'file'), 'released with the fiber');

/* The same inside synchronized(), whose frame is unwound then. */
$lock = new Lock($key, new FlockStore($directory));
$fiber = new Fiber(fn () => $lock->synchronized(function () {
    Fiber::suspend();
    echo "never\n";
}));
$fiber->start();
check(!is_free($directory, 'file'), 'held while synchronized() is suspended');
unset($fiber);
gc_collect_cycles();
check(is_free($directory, 'file'), 'released when the suspended synchronized() is destroyed');

prove_released(function ($take) {
    $GLOBALS['fiber'] = new Fiber(function () use ($take) {
        $locks = $take();
        Fiber::suspend();
        echo "never\n";
    });
    $GLOBALS['fiber']->start();
    return 0;
}, 'exit 0');
echo "done\n";
--EXPECT--
done
