--TEST--
A key keeps what stores note on it
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\Key;

$key = new Key('resource');
check_same('resource', (string) $key, 'the resource');
check($key instanceof Stringable, 'Stringable');
check(!$key->hasState('a'), 'no state at first');
$key->setState('a', ['deep' => [1, 2]]);
$key->setState('b', false);
$key->setState('c', null);
$key->setState('7', 'a number as a name');
$key->setState('', 'no name');
check($key->hasState('a') && $key->hasState('b') && $key->hasState('7') && $key->hasState(''), 'hasState()');
check(!$key->hasState('c'), 'null is no state, as in isset()');
check_same(['deep' => [1, 2]], $key->getState('a'), 'getState()');
check_same(false, $key->getState('b'), 'getState()');
check_same(null, $key->getState('c'), 'getState()');
check_same('a number as a name', $key->getState('7'), 'getState()');
check_same('no name', $key->getState(''), 'getState()');
$key->removeState('a');
$key->removeState('never set');
check(!$key->hasState('a'), 'removeState()');
echo "an undefined state:\n";
var_dump($key->getState('never set'));

/* Copied on write. */
$array = ['x' => 1];
$key->setState('array', $array);
$array['x'] = 2;
check_same(['x' => 1], $key->getState('array'), 'a copy');
$got = $key->getState('array');
$got['x'] = 3;
check_same(['x' => 1], $key->getState('array'), 'a copy');
$reference = 'first';
$holder = ['r' => &$reference];
$key->setState('reference', $holder['r']);
$reference = 'second';
check_same('first', $key->getState('reference'), 'the value, not the reference');
$object = new stdClass();
$key->setState('object', $object);
check_same($object, $key->getState('object'), 'the same object');

/* A key that is part of its own state is collected. */
$key->setState('self', $key);
$weak = WeakReference::create($key);
unset($key, $got, $object);
gc_collect_cycles();
check_same(null, $weak->get(), 'collected');
echo "done\n";
--EXPECTF--
an undefined state:

Warning: Undefined array key "never set" in %s on line %d
NULL
done
