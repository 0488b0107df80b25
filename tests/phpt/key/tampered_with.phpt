--TEST--
What array_walk() and ArrayObject do to a key's properties crashes nothing
--FILE--
<?php
use Latch\Key;
use Latch\Lock;
use Latch\Store\InMemoryStore;

$walked = new Key('a');
array_walk($walked, function (&$value) {});
$walked->setState('s', 1);
var_dump($walked->hasState('s'), (new Lock($walked, new InMemoryStore()))->acquire());

foreach (['state' => 5, 'lease' => new stdClass()] as $name => $value) {
    $key = new Key('a');
    $properties = @new ArrayObject($key); // deprecated since 8.5
    $properties["\0Latch\\Key\0$name"] = $value;
    var_dump($key->hasState('s'), (new Lock($key, new InMemoryStore()))->acquire());
}
?>
--EXPECT--
bool(true)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
