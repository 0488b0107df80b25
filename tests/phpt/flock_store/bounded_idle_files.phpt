--TEST--
Thousands of resources leave a bounded number of files open
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$store = new FlockStore($directory);
$before = what_is_open()['fds'];
for ($i = 0; $i < 500; $i++) {
    $lock = new Lock(new Key("resource $i"), $store);
    $lock->acquire();
}
unset($lock);
check(what_is_open()['fds'] <= $before + 33, 'one store: ' . what_is_open()['fds'] - $before);
unset($store);
for ($i = 0; $i < 30; $i++) {
    (new Lock(new Key('a'), new FlockStore("$directory/$i")))->acquire();
}
check(what_is_open()['fds'] <= $before + 60, 'many stores: ' . what_is_open()['fds'] - $before);

/* Where no more files can be opened: a clear exception, and the idle ones are given up first. */
if (function_exists('posix_setrlimit')) {
    $child = fork(function () use ($directory) {
        $store = new FlockStore($directory);
        for ($i = 0; $i < 30; $i++) {
            (new Lock(new Key("idle $i"), $store))->acquire();
        }
        $open = array_map('intval', array_diff(scandir('/proc/self/fd'), ['.', '..']));
        for ($limit = $left = 0; $left < 4; $limit++) {
            $left += in_array($limit, $open) ? 0 : 1;
        }
        // two or three more can be opened, and as many as are given up below the limit
        $hard = posix_getrlimit()['hard openfiles'];
        posix_setrlimit(POSIX_RLIMIT_NOFILE, $limit, $hard === 'unlimited' ? POSIX_RLIMIT_INFINITY : $hard);
        $locks = [];
        try {
            for ($i = 0; $i < 200; $i++) {
                $locks[$i] = new Lock(new Key("held $i"), $store);
                $locks[$i]->acquire();
            }
            echo "BROKEN: no limit\n";
        } catch (Latch\Exception\LockAcquiringException $e) {
            check(str_contains($e->getPrevious()->getMessage(), 'too many open files'), $e->getPrevious()->getMessage());
            check($i > 6, "the idle files made room for $i");
        }
        return 0;
    });
    check_same('exit 0', $child->ending(), 'the ending');
}
echo "done\n";
--EXPECT--
done
