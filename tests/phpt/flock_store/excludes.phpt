--TEST--
FlockStore: one writer or many readers, promotion and demotion, seen by plain flock(2)
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Exception\LockConflictedException;
use Latch\Store\FlockStore;

$directory = temporary_directory();
$store = new FlockStore($directory);
[$a, $b, $c] = array_map(fn () => new Lock(new Key('r'), $store), range(1, 3));
check($a->acquire() && $a->acquire(), 'acquired, and again');
check(!is_free($directory, 'r', LOCK_SH), 'exclusively');
check(!$b->acquire() && !$b->acquireRead(), 'by one alone');
check($a->acquireRead() && $b->acquireRead() && $c->acquireRead(), 'demoted: readers');
check(is_free($directory, 'r', LOCK_SH) && !is_free($directory, 'r'), 'shared');
check(!$a->acquire() && $a->isAcquired(), 'no promotion among readers, but still a reader');
$b->release();
check(!$a->acquire(), 'no promotion among two');
$c->release();
check(!is_free($directory, 'r'), 'the failed promotion has not lost the shared lock');
check($a->acquire() && !is_free($directory, 'r', LOCK_SH), 'promoted');
$a->release();
$a->release();
check(is_free($directory, 'r'), 'free');
check_same([lock_file($directory, 'r')], glob("$directory/*"), "Symfony's file name");
check_same(0666, fileperms(lock_file($directory, 'r')) & 0777, "everybody's file, despite the umask");

$one = new Key('s');
$two = new Key('s');
$store->save($one);
check_same(LockConflictedException::class . ': ', outcome(fn () => $store->save($two)), 'save()');
check_same(LockConflictedException::class . ': ', outcome(fn () => $store->saveRead($two)), 'saveRead()');
check($store->exists($one) && !$store->exists($two), 'exists()');
$store->delete($two);
check($store->exists($one), "a stranger's delete() deletes nothing");
$store->delete($one);
$store->waitAndSave($two);
$store->delete($two);
$store->saveRead($one);
$store->saveRead($two);
$store->delete($one);
$store->delete($two);
check(is_free($directory, 's'), 'free');
echo outcome(fn () => clone $store), "\n";
--EXPECT--
Error: Trying to clone an uncloneable object of class Latch\Store\FlockStore
