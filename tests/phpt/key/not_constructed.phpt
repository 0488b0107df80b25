--TEST--
A key without constructor call is an Error to use, and can be unserialised into
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore, NullStore};

$class = new ReflectionClass(Key::class);
$new = fn (): Key => $class->newInstanceWithoutConstructor();
check($class->isFinal(), 'final');
$directory = temporary_directory();
$error = 'Error: Typed property Latch\Key::$resource must not be accessed before initialization';

check_same($error, outcome(fn () => (string) $new()), '__toString()');
check_same($error, outcome(fn () => serialize($new())), 'serialize()');
foreach ([new FlockStore($directory), new InMemoryStore(), new NullStore()] as $store) {
    foreach ([
        fn () => $store->save($new()),
        fn () => $store->delete($new()),
        fn () => $store->exists($new()),
        fn () => $store->putOffExpiration($new(), 1),
        fn () => $store->saveRead($new()),
        fn () => (new Lock($new(), $store))->acquire(),
        fn () => (new Lock($new(), $store))->acquireRead(true),
        fn () => (new Lock($new(), $store))->acquire(true, 1),
        fn () => (new Lock($new(), $store))->synchronized(fn () => null),
        fn () => (new Lock($new(), $store))->release(),
        fn () => (new Lock($new(), $store))->isAcquired(),
        fn () => (new Lock($new(), $store))->refresh(1),
    ] as $at => $call) {
        check_same($error, outcome($call), get_class($store) . ", call $at");
    }
}
/* These need no resource. */
$key = $new();
$key->setState('a', 1);
$key->reduceLifetime(1);
check($key->hasState('a') && $key->getState('a') === 1 && !$key->isExpired(), 'the rest works');
$key->removeState('a');
$key->resetLifetime();
print_r($key, true);
clone $key;

/* As Symfony's LockKeyNormalizer does it. */
$key = $new();
$key->__unserialize(['resource' => 'r', 'expiringTime' => null, 'state' => ['a' => 'b']]);
check_same('r', (string) $key, 'unserialised into');
check_same('b', $key->getState('a'), 'unserialised into');
check((new Lock($key, new InMemoryStore()))->acquire(), 'and used');
echo "done\n";
--EXPECT--
done
