--TEST--
A lock cannot exist unconstructed, and is constructed once
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\InMemoryStore;

$class = new ReflectionClass(Lock::class);
check($class->isFinal(), 'final');
echo outcome(fn () => $class->newInstanceWithoutConstructor()), "\n";
$lock = new Lock(new Key('a'), $store = new InMemoryStore());
$lock->acquire();
echo outcome(fn () => $lock->__construct(new Key('b'), new InMemoryStore())), "\n";
check($lock->isAcquired(), 'and goes on');
echo outcome(fn () => $lock->__construct('b')), "\n";
try {
    new Lock(new Key('a'), $store, -1.0);
} catch (Latch\Exception\InvalidTtlException) {
}
check($lock->isAcquired(), 'a failed constructor releases nothing');
echo outcome(function () use ($lock) {
    $lock->dynamic = 1;
}), "\n";
echo outcome(fn () => isset($lock->key, $lock->store)), "\n";
echo "done\n";
--EXPECT--
ReflectionException: Class Latch\Lock is an internal class marked as final that cannot be instantiated without invoking its constructor
Error: Latch\Lock is constructed already
ArgumentCountError: Latch\Lock::__construct() expects at least 2 arguments, 1 given
Error: Cannot create dynamic property Latch\Lock::$dynamic
false
done
