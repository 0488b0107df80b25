--TEST--
Keys and stores cannot be constructed a second time, which would leave their locks behind
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\Key;
use Latch\Store\FlockStore;

$key = new Key('a');
$store = new FlockStore(temporary_directory());
foreach ([fn () => $key->__construct('b'), fn () => $store->__construct('/tmp')] as $again) {
    try {
        $again();
        echo "no error\n";
    } catch (Error $e) {
        echo $e->getMessage(), "\n";
    }
}
echo $key, "\n";
?>
--EXPECT--
Latch\Key is constructed already
Latch\Store\FlockStore is constructed already
a
