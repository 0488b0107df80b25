--TEST--
A clone of a key shares the lock, not the later state
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore};

$directory = temporary_directory();
foreach ([new FlockStore($directory), new InMemoryStore()] as $store) {
    $name = get_class($store);
    $key = new Key('a');
    $key->setState('before', 1);
    $lock = new Lock($key, $store);
    $lock->acquire();
    $clone = clone $key;
    $clone->setState('after', 2);
    check(!$key->hasState('after') && $clone->hasState('before'), "$name: the states are apart");
    $second = new Lock($clone, $store);
    check($second->isAcquired() && $second->acquire(), "$name: the clone has the lock");
    check(!(new Lock(new Key('a'), $store))->acquire(), "$name: a new key has not");
    unset($key, $lock);
    gc_collect_cycles();
    unset($second, $clone);
    check((new Lock(new Key('a'), $store))->acquire(), "$name: free when all is gone");
}
check_same('x', (string) clone new Key('x'), 'the resource');
echo "done\n";
--EXPECT--
done
