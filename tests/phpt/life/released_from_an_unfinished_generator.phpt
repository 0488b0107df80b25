--TEST--
A lock in a generator that never finishes is released with it
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$key = new Key('file');
$generator = (function () use ($directory, $key) {
    $lock = new Lock($key, new FlockStore($directory));
    $lock->acquire();
    while (true) {
        yield 1;
    }
})();
$generator->current();
check(!is_free($directory, 'file'), 'held while the generator lives');
unset($generator);
check(is_free($directory, 'file'), 'released with the generator');

prove_released(function ($take) {
    $GLOBALS['generator'] = (function () use ($take) {
        $locks = $take();
        yield 1;
        echo "never\n";
    })();
    $GLOBALS['generator']->current();
    return 0;
}, 'exit 0');
echo "done\n";
--EXPECT--
done
