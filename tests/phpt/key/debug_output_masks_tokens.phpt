--TEST--
Neither var_dump() nor any other dump of a key or lock shows a token
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore};

$key = new Key('the resource');
$key->setState('Some\Store', 'secret one');
$key->setState('nested', ['secret two']);
$key->setState('5', 'secret three');
$lock = new Lock($key, new InMemoryStore(), 10);
$lock->acquire();
$token = $key->getState('Symfony\Component\Lock\Store\InMemoryStore');
$dump = function (mixed $value): string {
    ob_start();
    var_dump($value);
    print_r($value);
    debug_zval_refcount($value);
    return ob_get_clean();
};
function debug_zval_refcount(mixed $value): void
{
    debug_zval_refcount_of($value);
}
function debug_zval_refcount_of(mixed ...$values): void
{
    try {
        throw new Exception();
    } catch (Exception $e) {
        echo $e->getTraceAsString();
    }
}
foreach ([$key, $lock, [$key, $lock], clone $key, clone $lock] as $value) {
    $text = $dump($value);
    check(!str_contains($text, 'secret') && !str_contains($text, $token), "masked in: $text");
    check(str_contains($text, 'the resource'), 'the resource is shown');
}
var_dump($key);
var_dump($lock);
var_dump((new ReflectionClass(Key::class))->newInstanceWithoutConstructor());
--EXPECTF--
object(Latch\Key)#%d (4) {
  ["resource"]=>
  string(12) "the resource"
  ["expiringTime"]=>
  NULL
  ["state"]=>
  array(4) {
    ["Some\Store"]=>
    string(3) "***"
    ["nested"]=>
    string(3) "***"
    [5]=>
    string(3) "***"
    ["Symfony\Component\Lock\Store\InMemoryStore"]=>
    string(3) "***"
  }
  ["serializable"]=>
  bool(true)
}
object(Latch\Lock)#%d (5) {
  ["resource"]=>
  string(12) "the resource"
  ["store"]=>
  string(25) "Latch\Store\InMemoryStore"
  ["ttl"]=>
  float(10)
  ["autoRelease"]=>
  bool(true)
  ["held"]=>
  bool(true)
}
object(Latch\Key)#%d (4) {
  ["resource"]=>
  NULL
  ["expiringTime"]=>
  NULL
  ["state"]=>
  array(0) {
  }
  ["serializable"]=>
  bool(true)
}
