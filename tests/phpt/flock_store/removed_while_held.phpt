--TEST--
A lock whose file is removed or moved away while it is held is lost: isAcquired() and refresh() say so
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock, StoreFactory};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$file = lock_file($directory, 'r');
$store = new FlockStore($directory);
foreach (['unlink' => unlink(...), 'rename' => fn ($file) => rename($file, "$file.old")] as $how => $remove) {
    foreach (['acquire', 'acquireRead'] as $method) {
        foreach (['isAcquired', 'refresh'] as $question) {
            $lock = new Lock(new Key('r'), $store, 300.0);
            $other = new Lock(new Key('r'), new FlockStore($directory));
            check($lock->$method(), "$how, $method");
            $lock->refresh();
            check($lock->isAcquired(), "$how, $method: held");
            $remove($file);
            check($other->acquire(), "$how, $method: others have a new file");
            check($lock->isHeld(), "$how, $method: isHeld() looks at nothing");
            echo "$method, $question: ", outcome(fn () => $lock->$question()), "\n";
            check(!$lock->isAcquired() && !$lock->isHeld(), "$how, $method: lost");
            $lock->release();
            check($other->isAcquired() && !$lock->acquire(), "$how, $method: the other one's");
            $other->release();
            check($lock->acquire() && $lock->isAcquired(), "$how, $method: to be had again");
            $lock->release();
        }
    }
}

/* Nor has Symfony's order of calls in store classes of PHP's another answer. */
$key = new Key('r');
$store->save($key);
unlink($file);
var_dump($store->exists($key));
echo outcome(fn () => $store->putOffExpiration($key, 300)), "\n";
?>
--EXPECT--
acquire, isAcquired: false
acquire, refresh: Latch\Exception\LockConflictedException: The "r" lock cannot be renewed: it is not held, or not any more; acquire it anew.
acquireRead, isAcquired: false
acquireRead, refresh: Latch\Exception\LockConflictedException: The "r" lock cannot be renewed: it is not held, or not any more; acquire it anew.
acquire, isAcquired: false
acquire, refresh: Latch\Exception\LockConflictedException: The "r" lock cannot be renewed: it is not held, or not any more; acquire it anew.
acquireRead, isAcquired: false
acquireRead, refresh: Latch\Exception\LockConflictedException: The "r" lock cannot be renewed: it is not held, or not any more; acquire it anew.
bool(false)
NULL
