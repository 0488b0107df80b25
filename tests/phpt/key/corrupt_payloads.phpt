--TEST--
A corrupt serialised key is a clear exception, and calls no object
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\Key;

class Surprise
{
    public function __toString(): string
    {
        echo "BROKEN: __toString() was called\n";
        return 'surprise';
    }

    public function __invoke()
    {
        echo "BROKEN: called\n";
    }
}

$resource = 's:8:"resource";s:1:"r";';
$surprise = 'O:8:"Surprise":0:{}';
$payloads = [
    'nothing' => '',
    'no resource' => 's:5:"state";a:0:{}',
    'resource null' => 's:8:"resource";N;',
    'resource int' => 's:8:"resource";i:1;',
    'resource array' => 's:8:"resource";a:0:{}',
    'resource object' => 's:8:"resource";' . $surprise,
    'resource object, mangled' => "s:36:\"\0Symfony\\Component\\Lock\\Key\0resource\";" . $surprise,
    'expiry string' => $resource . 's:12:"expiringTime";s:1:"1";',
    'expiry bool' => $resource . 's:12:"expiringTime";b:1;',
    'expiry NAN' => $resource . 's:12:"expiringTime";d:NAN;',
    'expiry INF' => $resource . 's:12:"expiringTime";d:INF;',
    'expiry -INF' => $resource . 's:12:"expiringTime";d:-INF;',
    'expiry array' => $resource . 's:12:"expiringTime";a:0:{}',
    'expiry object' => $resource . 's:12:"expiringTime";' . $surprise,
    'state string' => $resource . 's:5:"state";s:1:"a";',
    'state int' => $resource . 's:5:"state";i:0;',
    'state object' => $resource . 's:5:"state";' . $surprise,
    'integer keys' => 'i:0;s:1:"r";i:1;N;i:2;a:0:{}',
];
foreach ($payloads as $name => $entries) {
    $count = preg_match_all('/(?:s:\d+:"[^"]*"|i:\d);(?:N;|[sbid]:[^;]*;|[aO]:[^}]*})/', $entries);
    echo $name, ': ', outcome(fn () => unserialize("O:9:\"Latch\\Key\":$count:{" . $entries . '}')), "\n";
}
echo 'a reference to itself: ',
    outcome(fn () => (string) unserialize('O:9:"Latch\Key":2:{s:8:"resource";s:1:"r";s:5:"state";a:1:{i:0;r:1;}}')), "\n";
echo 'references: ',
    outcome(fn () => (string) unserialize('O:9:"Latch\Key":2:{s:8:"resource";s:1:"r";s:5:"state";R:2;}')), "\n";
echo 'truncated: ', outcome(fn () => @unserialize('O:9:"Latch\Key":1:{s:8:"resource";s:1:"r')), "\n";
echo 'C format: ', outcome(fn () => @unserialize('C:9:"Latch\Key":1:{x}')), "\n";
echo 'E format: ', outcome(fn () => @unserialize('E:11:"Latch\Key:a";')), "\n";
echo 'Lease: ', outcome(fn () => unserialize('O:11:"Latch\Lease":0:{}')), "\n";
echo 'Store: ', outcome(fn () => unserialize('O:22:"Latch\Store\FlockStore":0:{}')), "\n";
echo 'Lock: ', outcome(fn () => unserialize('O:10:"Latch\Lock":0:{}')), "\n";
echo 'a lease by the back door: ', outcome(fn () => implode(' ', array_keys(unserialize(
    'O:9:"Latch\Key":2:{s:8:"resource";s:1:"r";s:5:"lease";i:5;}')->__serialize()))), "\n";
echo 'called twice: ', outcome(function () {
    $key = new Key('first');
    $key->setState('a', 1);
    $key->__unserialize(['resource' => 'second']);
    return $key . (int) $key->hasState('a');
}), "\n";
echo 'wrong type: ', outcome(fn () => (new Key('a'))->__unserialize('text')), "\n";
--EXPECT--
nothing: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "resource" must be a string, nothing given.
no resource: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "resource" must be a string, nothing given.
resource null: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "resource" must be a string, null given.
resource int: Latch\Key
resource array: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "resource" must be a string, array given.
resource object: BadMethodCallException: Cannot unserialize Latch\Key
resource object, mangled: BadMethodCallException: Cannot unserialize Latch\Key
expiry string: Latch\Key
expiry bool: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "expiringTime" must be null or a finite number of seconds, bool given.
expiry NAN: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "expiringTime" must be null or a finite number of seconds, float given.
expiry INF: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "expiringTime" must be null or a finite number of seconds, float given.
expiry -INF: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "expiringTime" must be null or a finite number of seconds, float given.
expiry array: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "expiringTime" must be null or a finite number of seconds, array given.
expiry object: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "expiringTime" must be null or a finite number of seconds, Surprise given.
state string: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "state" must be an array, string given.
state int: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "state" must be an array, int given.
state object: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "state" must be an array, Surprise given.
integer keys: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "resource" must be a string, nothing given.
a reference to itself: 'r'
references: Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "state" must be an array, string given.
truncated: false
C format: Latch\Key
E format: false
Lease: Exception: Unserialization of 'Latch\Lease' is not allowed
Store: Exception: Unserialization of 'Latch\Store\FlockStore' is not allowed
Lock: BadMethodCallException: Cannot unserialize Latch\Lock
a lease by the back door: 'resource expiringTime state'
called twice: 'second0'
wrong type: TypeError: Latch\Key::__unserialize(): Argument #1 ($data) must be of type array, string given
