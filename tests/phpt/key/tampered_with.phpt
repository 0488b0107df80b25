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

/* What is no time is no expiry, and belongs to the key: it outlives each copy of it. */
class Witness
{
    public function __construct(private Key $key)
    {
    }

    public function __destruct()
    {
        echo 'destructed, ', (string) $this->key, "\n";
    }
}

$key = new Key('a');
$properties = @new ArrayObject($key);
$properties["\0Latch\\Key\0expiringTime"] = new Witness($key);
unset($properties);
for ($i = 0; $i < 3; $i++) {
    var_dump($key->__serialize()['expiringTime'], $key->__debugInfo()['expiringTime']);
}
var_dump($key->getRemainingLifetime());
$key->resetLifetime();

/* A destructor looks at the property whose old value it is. */
foreach (['resource', 'state', 'expiringTime'] as $name) {
    $key = new Key($name);
    $properties = @new ArrayObject($key);
    $properties["\0Latch\\Key\0$name"] = new Witness(new Key("the $name was replaced"));
    unset($properties);
    $key->__unserialize(['resource' => 'b']);
    var_dump((string) $key);
}
$key = new Key('a');
$properties = @new ArrayObject($key);
$properties["\0Latch\\Key\0state"] = new Witness($key);
unset($properties);
$key->setState('s', 1);
var_dump($key->getState('s'));
?>
--EXPECT--
bool(true)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
NULL
NULL
NULL
NULL
NULL
NULL
NULL
destructed, a
destructed, the resource was replaced
string(1) "b"
destructed, the state was replaced
string(1) "b"
destructed, the expiringTime was replaced
string(1) "b"
destructed, a
int(1)
