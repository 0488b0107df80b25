--TEST--
InMemoryStore: one writer or many readers, promotion and demotion
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Exception\LockConflictedException;
use Latch\Store\InMemoryStore;

$store = new InMemoryStore();
[$a, $b, $c] = array_map(fn () => new Lock(new Key('r'), $store), range(1, 3));
check($a->acquire() && $a->acquire(), 'acquired, and again');
check(!$b->acquire() && !$b->acquireRead(), 'by one alone');
check((new Lock(new Key('other'), $store))->acquire(), 'another resource');
check((new Lock(new Key('r'), new InMemoryStore()))->acquire(), 'another store');
check($a->acquireRead() && $b->acquireRead() && $c->acquireRead(), 'demoted: readers');
check(!$a->acquire() && $a->isAcquired(), 'no promotion among readers, but still a reader');
$b->release();
$b->release();
check(!$a->acquire(), 'no promotion among two');
$c->release();
check($a->acquire(), 'promoted');
check(!$b->acquireRead(), 'exclusive');
$a->release();
check($b->acquire(), 'free');

$one = new Key('s');
$two = new Key('s');
$store->save($one);
$store->save($one);
check_same(LockConflictedException::class . ': ', outcome(fn () => $store->save($two)), 'save()');
check_same(LockConflictedException::class . ': ', outcome(fn () => $store->saveRead($two)), 'saveRead()');
check($store->exists($one) && !$store->exists($two), 'exists()');
$store->delete($two);
check($store->exists($one), "a stranger's delete() deletes nothing");
$store->putOffExpiration($one, 10);
$store->delete($one);
check(!$store->exists($one), 'delete()');
/* By hand, without a Lock: the key's end does not release. */
$store->save($two);
unset($two);
check_same(LockConflictedException::class . ': ', outcome(fn () => $store->save($one)), 'kept without its key');
echo outcome(fn () => clone $store), "\n";
--EXPECT--
Error: Trying to clone an uncloneable object of class Latch\Store\InMemoryStore
