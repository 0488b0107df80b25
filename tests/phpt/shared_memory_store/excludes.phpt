--TEST--
SharedMemoryStore: one writer or many readers, promotion and demotion, of all keys, and of all stores on the same file
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{BlockingSharedLockStoreInterface, BlockingStoreInterface, Key, Lock};
use Latch\Exception\{LockConflictedException, UnserializableKeyException};
use Latch\Store\{SharedMemoryStore, StoreFactory};

$directory = temporary_directory();
$store = new SharedMemoryStore("$directory/locks", 1000);
check($store instanceof BlockingSharedLockStoreInterface && $store instanceof BlockingStoreInterface, 'what kind of store it is');
$same = StoreFactory::createStore("shm://$directory/locks");
$other = new SharedMemoryStore("$directory/other", 1000);

foreach (['r', "nul\0byte", '0', str_repeat('long', 1 << 18), str_repeat('x', 64), str_repeat('x', 65)] as $at => $resource) {
    [$a, $b, $c] = [new Lock(new Key($resource), $store), new Lock(new Key($resource), $store), new Lock(new Key($resource), $same)];
    check($a->acquire() && $a->acquire(), "$at: acquired, and again");
    check($a->isAcquired() && $a->isHeld() && !$a->isExpired() && $a->getRemainingLifetime() === null, "$at: held, without end");
    check(!$b->acquire() && !$b->acquireRead() && !$c->acquire() && !$c->acquire(true, 0.005), "$at: by one alone");
    check((new Lock(new Key($resource), $other))->acquire(), "$at: another file");
    check((new Lock(new Key("$resource."), $store))->acquire(), "$at: another resource");
    $a->refresh(5);
    check($a->acquireRead() && $b->acquireRead() && $c->acquireRead(), "$at: demoted: readers");
    check(!$a->acquire() && $a->isAcquired(), "$at: no promotion among readers, but still a reader");
    check(!$a->acquire(true, 0.02) && $a->isHeld(), "$at: nor after a wait");
    $b->release();
    $b->release();
    check(!$a->acquire(), "$at: no promotion among two");
    $c->release();
    check($a->acquire() && !$b->acquireRead(), "$at: promoted");
    $a->release();
    check(!$a->isHeld() && !$a->isAcquired(), "$at: released");
    check($b->acquire() && !$a->isAcquired(), "$at: free for another");
    unset($b);
    check($c->acquireRead(), "$at: released with its object");
    $c->release();
}
check_same([], $store->listHeld(), 'none is left');

/* By hand. */
[$one, $two] = [new Key('s'), new Key('s')];
$store->save($one);
$store->save($one);
check_same(LockConflictedException::class . ': ', outcome(fn () => $store->save($two)), 'save()');
check_same(LockConflictedException::class . ': ', outcome(fn () => $same->saveRead($two)), 'saveRead()');
check($store->exists($one) && $same->exists($one) && !$store->exists($two), 'exists()');
$store->delete($two);
check($store->exists($one), "a stranger's delete() deletes nothing");
$store->putOffExpiration($one, 10);
$same->delete($one);
check(!$store->exists($one), 'delete()');
$store->waitAndSaveRead($one);
$store->waitAndSaveRead($two);
check($store->exists($one) && $store->exists($two), 'waitAndSaveRead()');
$store->delete($one);
$store->waitAndSave($two);
check_same(LockConflictedException::class . ': ', outcome(fn () => $store->saveRead($one)), 'waitAndSave()');

/* A key that has been held is this process's own. */
check_same(UnserializableKeyException::class . ': The key cannot be serialized.', outcome(fn () => serialize($two)), 'by hand');
foreach (['acquire', 'acquireRead'] as $method) {
    $lock = new Lock($key = new Key('t'), $store);
    $lock->$method();
    check_same(UnserializableKeyException::class . ': The key cannot be serialized.', outcome(fn () => serialize($key)), $method);
    $lock->release();
}
ob_start();
var_dump($two, $lock);
check(!str_contains(ob_get_clean(), $directory), 'no path in a dump');

/* The lock ends with its key, as nothing else could release it. */
unset($two);
check($store->inspect(new Key('s'))['mode'] === null, 'by hand: it ends with its key');
$lock = new Lock(new Key('kept'), $store, null, false);
$lock->acquire();
unset($lock);
check($store->inspect(new Key('kept'))['mode'] === null, 'without automatic release as well');
echo "done\n";
--EXPECT--
done
