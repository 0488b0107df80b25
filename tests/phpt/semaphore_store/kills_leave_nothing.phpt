--TEST--
A killed process frees its semaphores, and the next one that uses Latch removes the sets
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\SemaphoreStore;

$store = new SemaphoreStore();
$name = 'latch phpt ' . bin2hex(random_bytes(8));
$resources = array_map(fn ($n) => "$name $n", range(1, 20));
$left = fn () => array_filter($resources, semaphore_exists(...));
$holder = function () use ($resources, $store) {
    $child = fork(function (ParentLine $parent) use ($resources, $store) {
        foreach ($resources as $resource) {
            $locks[] = $lock = new Lock(new Key($resource), $store);
            $lock->acquire();
        }
        $parent->say('held');
        $parent->stay();
    });
    $child->hear_exactly('held');
    return $child;
};

$child = $holder();
check_same(20, count($left()), 'sets while they are held');
$child->kill();
$child->ending();

/* The next user of a resource removes its set with the lock. */
$lock = new Lock(new Key($resources[0]), $store);
check($lock->acquire(), 'what a killed process held is free');
$lock->release();
check(!semaphore_exists($resources[0]), 'and its set is removed by the next release');

/* The others are removed by whoever opens a store, once they are old enough. */
$count = 0;
wait_until(function () use (&$count, $left) {
    new SemaphoreStore('another project ' . ++$count);
    return !$left();
}, 'the sets are removed');

/* What is held stays, however old. */
$child = $holder();
sleep(4);
new SemaphoreStore('another project ' . ++$count);
check_same(20, count($left()), 'held sets stay');
foreach ($resources as $resource) {
    check(!(new Lock(new Key($resource), $store))->acquire(), 'held by the child');
}
$child->kill();
$child->ending();
wait_until(function () use (&$count, $left) {
    new SemaphoreStore('another project ' . ++$count);
    return !$left();
}, 'the sets are removed');
echo "done\n";
--EXPECT--
done
