--TEST--
SharedMemoryStore: waits without end of two processes for each other are refused to the one that closes the circle
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Exception\LockAcquiringException;
use Latch\Store\SharedMemoryStore;

$path = temporary_directory() . '/locks';
$store = new SharedMemoryStore($path, 100);
[$a, $b] = [new Lock(new Key('a'), $store), new Lock(new Key('b'), $store)];
$child = fork(function (ParentLine $parent) use ($path) {
    $store = new SharedMemoryStore($path);
    [$a, $b] = [new Lock(new Key('a'), $store), new Lock(new Key('b'), $store)];
    $b->acquire();
    $parent->say('held');
    $parent->hear_exactly('wait');
    $a->acquire(true);
    return 0;
});
$child->hear_exactly('held');
$a->acquire();
$child->say('wait');
wait_until(fn () => $store->inspect(new Key('a'))['waiters'] === 1, 'the child waits');
try {
    $b->acquire(true);
    echo "BROKEN: it has waited\n";
} catch (LockAcquiringException $e) {
    check(str_contains($e->getMessage(), "the lock's holder waits for a lock that this very thread holds"), $e->getMessage());
}
check($a->isHeld() && !$b->isHeld(), 'what was held is held');
check_same(false, $b->acquire(true, 0.05), 'with a time-out it is a plain false');
$a->release();
check_same('exit 0', $child->ending(), 'the child has both');
check($b->acquire(true), 'and then they are free');
echo "done\n";
--EXPECT--
done
