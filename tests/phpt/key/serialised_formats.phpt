--TEST--
A serialised key is written in the newer format and read in both, under both class names' properties
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\Key;

$key = new Key('the resource');
$key->setState('Some\Store', 'token');
check_same(
    'O:9:"Latch\Key":3:{s:8:"resource";s:12:"the resource";s:12:"expiringTime";N;s:5:"state";a:1:{s:10:"Some\Store";s:5:"token";}}',
    serialize($key),
    'written'
);
$key->reduceLifetime(1000);
$copy = unserialize(serialize($key));
check($copy instanceof Key && (string) $copy === 'the resource', 'read again');
check_same('token', $copy->getState('Some\Store'), 'with its state');
check($copy->getRemainingLifetime() > 900, 'with its expiry');
check_same(serialize($key), serialize($copy), 'the same again');

$plain = fn (string $prefix, string $rest = '') => 'O:9:"Latch\Key":' . ($rest === '' ? 3 : 4) . ':{'
    . sprintf('s:%d:"%sresource";s:1:"r";', strlen($prefix) + 8, $prefix)
    . sprintf('s:%d:"%sexpiringTime";d:4102444800.5;', strlen($prefix) + 12, $prefix)
    . sprintf('s:%d:"%sstate";a:2:{s:1:"a";s:1:"t";i:5;i:6;}', strlen($prefix) + 5, $prefix)
    . $rest . '}';
foreach ([
    'plain names' => $plain(''),
    "Symfony's private properties" => $plain("\0Symfony\\Component\\Lock\\Key\0"),
    "Latch's private properties" => $plain("\0Latch\\Key\0"),
    'with a property more, as Symfony < 7.4 has' => $plain(
        "\0Symfony\\Component\\Lock\\Key\0",
        "s:40:\"\0Symfony\\Component\\Lock\\Key\0serializable\";b:1;"
    ),
] as $format => $payload) {
    $key = unserialize($payload);
    if (!$key instanceof Key) {
        echo "BROKEN: $format\n";
        continue;
    }
    check_same('r', (string) $key, $format);
    check_same('t', $key->getState('a'), $format);
    check_same(6, $key->getState('5'), $format);
    check_same(4102444800.5, $key->__serialize()['expiringTime'], $format);
}
/* Whole seconds, and nothing but the resource. */
check_same(4102444800.0, unserialize('O:9:"Latch\Key":3:{s:8:"resource";s:1:"r";s:12:"expiringTime";i:4102444800;s:5:"state";a:0:{}}')
    ->__serialize()['expiringTime'], 'whole seconds');
check_same(['resource' => 'r', 'expiringTime' => null, 'state' => []],
    unserialize('O:9:"Latch\Key":1:{s:8:"resource";s:1:"r";}')->__serialize(), 'the resource alone');
/* Any bytes. */
$bytes = "a\0b\xff\n\"'";
check_same($bytes, (string) unserialize(serialize(new Key($bytes))), 'bytes');
check_same('', (string) unserialize(preg_replace('/s:1:"r"/', 's:0:""', serialize(new Key('r')))), 'an empty resource');
echo "done\n";
--EXPECT--
done
