--TEST--
A key whose lock lives in this process cannot be serialised
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore, NullStore};

$key = new Key('a');
$key->markUnserializable();
echo outcome(fn () => serialize($key)), "\n";
echo outcome(fn () => serialize(['deep' => [$key]])), "\n";
echo outcome(fn () => $key->__serialize()), "\n";
echo outcome(fn () => serialize(clone $key)), "\n";

$key = new Key('a');
$lock = new Lock($key, new FlockStore(temporary_directory()));
serialize($key);
$lock->acquire();
echo outcome(fn () => serialize($key)), "\n";
$lock->release();
echo outcome(fn () => serialize($key)), "\n";

foreach ([new InMemoryStore(), new NullStore()] as $store) {
    $key = new Key('a');
    $lock = new Lock($key, $store, 10);
    $lock->acquire();
    check(unserialize(serialize($key)) instanceof Key, get_class($store));
}
echo "done\n";
--EXPECT--
Latch\Exception\UnserializableKeyException: The key cannot be serialized.
Latch\Exception\UnserializableKeyException: The key cannot be serialized.
Latch\Exception\UnserializableKeyException: The key cannot be serialized.
Latch\Exception\UnserializableKeyException: The key cannot be serialized.
Latch\Exception\UnserializableKeyException: The key cannot be serialized.
Latch\Exception\UnserializableKeyException: The key cannot be serialized.
done
