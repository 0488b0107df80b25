--TEST--
NullStore says yes to all and holds nothing
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{BlockingSharedLockStoreInterface, BlockingStoreInterface, Key, Lock};
use Latch\Store\NullStore;

$store = new NullStore();
check($store instanceof BlockingSharedLockStoreInterface, 'interface');
$first = new Lock(new Key('a'), $store);
$second = new Lock(new Key('a'), $store);
check($first->acquire() && $second->acquire(true) && $second->acquireRead(true) && $first->acquire(true, 1), 'all at once');
check(!$first->isAcquired() && !$first->isHeld(), 'nothing is held');
$first->release();
$first->release();
$key = new Key('b');
foreach (['save', 'saveRead', 'waitAndSaveRead', 'delete'] as $method) {
    check_same(null, $store->$method($key), $method);
}
check_same(null, $store->putOffExpiration($key, 5), 'putOffExpiration');
check_same(false, $store->exists($key), 'exists');
$lock = new Lock($key, $store, 10);
$lock->acquire();
$lock->refresh();
serialize($key);
echo outcome(fn () => clone $store), "\n";
--EXPECT--
Error: Trying to clone an uncloneable object of class Latch\Store\NullStore
