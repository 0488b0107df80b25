--TEST--
open_basedir holds for the file of shared memory
--INI--
open_basedir={PWD}
--FILE--
<?php
use Latch\{Key, Lock};
use Latch\Store\{SharedMemoryStore, StoreFactory};

$inside = __DIR__ . '/open_basedir-' . getmypid();
mkdir($inside);
foreach (['/tmp/latch-outside', __DIR__ . '/../outside', "$inside/../../../outside"] as $path) {
    foreach ([fn () => new SharedMemoryStore($path), fn () => StoreFactory::createStore("shm://$path"),
        fn () => StoreFactory::createStore('shm://' . str_replace('/o', '/%6f', $path) . '?capacity=5')] as $make) {
        try {
            $make();
            echo "BROKEN: $path\n";
        } catch (Latch\Exception\InvalidArgumentException $e) {
            if (!str_contains($e->getMessage(), 'is outside of open_basedir')) {
                echo $e->getMessage(), "\n";
            }
        }
    }
}
$lock = new Lock(new Key('a'), StoreFactory::createStore("shm://$inside/locks?capacity=100"));
var_dump($lock->acquire(), (new Lock(new Key('a'), new SharedMemoryStore("$inside/locks")))->acquire());
unset($lock);
exec('rm -r ' . escapeshellarg($inside));
echo "done\n";
--EXPECT--
bool(true)
bool(false)
done
