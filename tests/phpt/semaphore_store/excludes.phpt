--TEST--
SemaphoreStore: one holder, nothing left in the system, bad arguments, no copies
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\SemaphoreStore;

$store = new SemaphoreStore();
foreach (["nul\0byte", str_repeat('long', 1 << 18), 'latch phpt ' . bin2hex(random_bytes(8))] as $resource) {
    $one = new Lock(new Key($resource), $store);
    $two = new Lock(new Key($resource), new SemaphoreStore());
    check($one->acquire() && $one->acquire(), 'acquired, twice');
    check($one->isAcquired() && $one->isHeld(), 'held');
    check(!$two->acquire() && !$two->acquireRead() && !$two->acquire(true, 0.005), 'one holder');
    check(semaphore_exists($resource), 'the system lists it');
    $one->refresh(5);
    $one->release();
    check(!semaphore_exists($resource), 'the system lists nothing');
    check($two->acquire(true), 'free again');
    check(!$one->isAcquired() && !$one->isHeld(), 'somebody else has it');
    unset($two);
    check(!semaphore_exists($resource), 'released with its object');
}

$one = new Lock(new Key('latch phpt kept'), $store, null, false);
$one->acquire();
unset($one);
check(!semaphore_exists('latch phpt kept'), 'a semaphore ends with its key, as a file that is closed');

echo outcome(fn () => new SemaphoreStore('', 'sha256')), "\n";
echo outcome(fn () => $store->__construct()), "\n";
echo outcome(fn () => clone $store), "\n";
echo outcome(fn () => serialize($store)), "\n";
check(SemaphoreStore::isSupported(), 'supported');
echo "done\n";
--EXPECT--
Latch\Exception\InvalidArgumentException: Latch\Store\SemaphoreStore::__construct(): Argument #2 ($digest) must be "xxh128", "xxh64", "md5" or null
Error: Latch\Store\SemaphoreStore is constructed already
Error: Trying to clone an uncloneable object of class Latch\Store\SemaphoreStore
Exception: Serialization of 'Latch\Store\SemaphoreStore' is not allowed
done
