--TEST--
NoLock locks nothing and says yes
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{LockInterface, NoLock, SharedLockInterface};

$lock = new NoLock();
check($lock instanceof LockInterface && $lock instanceof SharedLockInterface, 'interfaces');
check_same([true, true, true, true], [$lock->acquire(), $lock->acquire(true), $lock->acquireRead(), $lock->acquireRead(true)], 'acquire');
check_same(null, $lock->refresh(), 'refresh()');
check_same(null, $lock->refresh(5.0), 'refresh()');
check_same(null, $lock->refresh(-5.0), 'refresh()');
check_same(true, $lock->isAcquired(), 'isAcquired()');
$lock->release();
check_same(true, $lock->isAcquired(), 'isAcquired()');
check_same(false, $lock->isExpired(), 'isExpired()');
check_same(null, $lock->getRemainingLifetime(), 'getRemainingLifetime()');
check(clone $lock instanceof NoLock, 'clone');
check(unserialize(serialize($lock)) instanceof NoLock, 'serialize');
check((new ReflectionClass($lock))->isFinal(), 'final');
echo "done\n";
--EXPECT--
done
