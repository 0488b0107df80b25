--TEST--
A lock that a closure has captured is released with the closure
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$key = new Key('file');
$make = function () use ($directory, $key): Closure {
    $lock = new Lock($key, new FlockStore($directory));
    $lock->acquire();
    return fn () => $lock->isHeld();
};
$closure = $make();
check($closure() && !is_free($directory, 'file'), 'held while the closure lives');
unset($closure);
check(is_free($directory, 'file'), 'released with the closure');

prove_released(function ($take) {
    $locks = $take();
    $GLOBALS['closure'] = function () use ($locks) {
    };
    return 0;
}, 'exit 0');
echo "done\n";
--EXPECT--
done
