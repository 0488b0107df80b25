--TEST--
A clone of a lock shares its key: both have the lock, the first to end releases it
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore};

$directory = temporary_directory();
foreach ([new FlockStore($directory), new InMemoryStore()] as $store) {
    $name = get_class($store);
    $lock = new Lock(new Key('a'), $store);
    $lock->acquire();
    $clone = clone $lock;
    check($clone->isAcquired() && $clone->isHeld() && $clone->acquire(), "$name: the clone has it");
    check(!(new Lock(new Key('a'), $store))->acquire(), "$name: nobody else has");
    unset($clone);
    check(!$lock->isAcquired() && !$lock->isHeld(), "$name: the clone's end has released it");
    check((new Lock(new Key('a'), $store))->acquire(), "$name: free");

    $free = new Lock(new Key('b'), $store);
    $clone = clone $free;
    $free->acquire();
    unset($clone);
    check($free->isAcquired(), "$name: a clone from before the acquire releases nothing");
    $clone = clone $free;
    $free->release();
    check(!$clone->isAcquired(), "$name: released for the clone too");
    unset($clone);
}
echo "done\n";
--EXPECT--
done
