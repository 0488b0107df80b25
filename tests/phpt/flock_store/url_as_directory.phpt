--TEST--
A file:// URL is the directory that it names, other URLs are refused
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\LockFactory;
use Latch\Store\FlockStore;

$directory = temporary_directory();
$lock = (new LockFactory(new FlockStore("file://$directory")))->createLock('a');
$other = (new LockFactory(new FlockStore($directory)))->createLock('a');
var_dump($lock->acquire(), $other->acquire());
try {
    new FlockStore('vfs://root/locks');
} catch (Latch\Exception\InvalidArgumentException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
bool(true)
bool(false)
The FlockStore directory "vfs://root/locks" is not a local directory.
