--TEST--
A file:// URL is the directory that it names, other URLs and DSNs are refused, without their passwords
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\LockFactory;
use Latch\Store\FlockStore;

$directory = temporary_directory();
$lock = (new LockFactory(new FlockStore("file://$directory")))->createLock('a');
$other = (new LockFactory(new FlockStore($directory)))->createLock('a');
var_dump($lock->acquire(), $other->acquire());
chdir($directory);
foreach (['vfs://root/locks', 'ftp://user:SECRET@host/locks', 'flock:///tmp', 'flock+remove://locks', 'redis://:SECRET@host',
    'redis:SECRET@?host[localhost]', 'Rediss://SECRET@host', 'pgsql+advisory:host=h;password=SECRET', 'mysql://user:SECRET@host'] as $path) {
    echo outcome(fn () => new FlockStore($path)), "\n";
}
check_same([], glob("$directory/*:*"), 'no directory is made');
mkdir('redis:here');
echo outcome(fn () => new FlockStore('redis:here')), ", which is there\n";
?>
--EXPECT--
bool(true)
bool(false)
Latch\Exception\InvalidArgumentException: The FlockStore directory "vfs://root/locks" is not a local directory.
Latch\Exception\InvalidArgumentException: The FlockStore directory "ftp" is not a local directory.
Latch\Exception\InvalidArgumentException: The FlockStore directory is a DSN ("flock:..."); pass the path of a directory, or the DSN to StoreFactory::createStore().
Latch\Exception\InvalidArgumentException: The FlockStore directory is a DSN ("flock+remove:..."); pass the path of a directory, or the DSN to StoreFactory::createStore().
Latch\Exception\InvalidArgumentException: The FlockStore directory is a DSN ("redis:..."); pass the path of a directory, or the DSN to StoreFactory::createStore().
Latch\Exception\InvalidArgumentException: The FlockStore directory is a DSN ("redis:..."); pass the path of a directory, or the DSN to StoreFactory::createStore().
Latch\Exception\InvalidArgumentException: The FlockStore directory is a DSN ("Rediss:..."); pass the path of a directory, or the DSN to StoreFactory::createStore().
Latch\Exception\InvalidArgumentException: The FlockStore directory is a DSN ("pgsql+advisory:..."); pass the path of a directory, or the DSN to StoreFactory::createStore().
Latch\Exception\InvalidArgumentException: The FlockStore directory is a DSN ("mysql:..."); pass the path of a directory, or the DSN to StoreFactory::createStore().
Latch\Store\FlockStore, which is there
