--TEST--
A key takes no dynamic properties, and no foreign object in its lease
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore};

$key = new Key('a');
check(str_starts_with(outcome(function () use ($key) {
    $key->dynamic = 1;
}), 'Error: Cannot create dynamic property Latch\Key::$dynamic'), 'dynamic property');
check(str_starts_with(outcome(fn () => $key->resource), 'Error: Cannot access private property'), 'private');
foreach (['lease', 'state', 'expiringTime', 'serializable', 'resource'] as $name) {
    foreach ([new stdClass(), new Key('b'), [], 'text', 5, 1.5, null, true] as $value) {
        $key = new Key('a');
        try {
            (new ReflectionProperty($key, $name))->setValue($key, $value);
        } catch (TypeError) {
            continue;
        }
        foreach ([new InMemoryStore(), new FlockStore(temporary_directory())] as $store) {
            $lock = new Lock($key, $store);
            check($lock->acquire(), "$name can be " . get_debug_type($value));
            $lock->release();
        }
        $key->isExpired();
        print_r($key, true);
    }
}
/* Another key's lease is harmless. */
$store = new InMemoryStore();
$first = new Key('a');
$lock = new Lock($first, $store);
$lock->acquire();
$property = new ReflectionProperty(Key::class, 'lease');
$second = new Key('b');
$property->setValue($second, $property->getValue($first));
$other = new Lock($second, $store);
$other->isAcquired();
$other->release();
$lock->release();
unset($lock, $other, $first, $second);
check(str_starts_with(outcome(fn () => (new ReflectionClass('Latch\Lease'))->newInstanceWithoutConstructor()),
    'ReflectionException'), 'no lease by reflection');
check(str_starts_with(outcome(fn () => new Latch\Lease()), 'Error'), 'no lease by new');
echo "done\n";
--EXPECT--
done
