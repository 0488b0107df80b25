--TEST--
A lock cannot be serialised, with Symfony's exception
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\InMemoryStore;

$lock = new Lock(new Key('a'), new InMemoryStore());
$lock->acquire();
echo outcome(fn () => serialize($lock)), "\n";
echo outcome(fn () => serialize(['deep' => [$lock]])), "\n";
echo outcome(fn () => $lock->__serialize()), "\n";
echo outcome(fn () => $lock->__unserialize([])), "\n";
echo outcome(fn () => unserialize('O:10:"Latch\Lock":0:{}')), "\n";
echo outcome(fn () => unserialize('O:10:"Latch\Lock":1:{s:3:"key";O:9:"Latch\Key":1:{s:8:"resource";s:1:"a";}}')), "\n";
check($lock->isAcquired(), 'still held');
echo "done\n";
--EXPECT--
BadMethodCallException: Cannot serialize Latch\Lock
BadMethodCallException: Cannot serialize Latch\Lock
BadMethodCallException: Cannot serialize Latch\Lock
BadMethodCallException: Cannot unserialize Latch\Lock
BadMethodCallException: Cannot unserialize Latch\Lock
BadMethodCallException: Cannot unserialize Latch\Lock
done
