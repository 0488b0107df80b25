--TEST--
removeOnRelease removes the file of an exclusive lock, and never lets two have it
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

class Overriding extends FlockStore
{
    public function save(Key $key): void
    {
        parent::save($key);
    }
}

$directory = temporary_directory();
$file = lock_file($directory, 'r');
foreach ([FlockStore::class, Overriding::class] as $class) {
    $store = new $class($directory, true);
    $make = fn () => new Lock(new Key('r'), $store);
    $lock = $make();
    $lock->acquire();
    check(file_exists($file), "$class: there while it is held");
    check(!$make()->acquire(), "$class: excludes");
    $lock->release();
    clearstatcache();
    check(!file_exists($file), "$class: gone after release()");
    $lock->acquire();
    unset($lock);
    clearstatcache();
    check(!file_exists($file), "$class: gone after the destructor");

    $reader = $make();
    $other = $make();
    $reader->acquireRead();
    $other->acquireRead();
    $reader->release();
    clearstatcache();
    check(file_exists($file), "$class: a reader's file stays");
    check(!$reader->acquire(), "$class: the other reader still reads");
    $other->release();
    check($reader->acquire(), "$class: free");
    $reader->release();
    check($make()->synchronized(fn () => file_exists($file)), "$class: synchronized()");
    clearstatcache();
    check(!file_exists($file), "$class: gone after synchronized()");
}

/* Removed under the holder's hands: it keeps what it has, others get a new file. */
$store = new FlockStore($directory, true);
$lock = new Lock(new Key('r'), $store);
$lock->acquire();
unlink($file);
$lock->release();
check($lock->acquire() && file_exists($file), 'a new file');
$lock->release();

/* Several processes that remove it all the time. */
file_put_contents("$directory/counter", '0');
$work = function () use ($directory) {
    $store = new FlockStore($directory, true);
    for ($i = 0; $i < 100; $i++) {
        (new Lock(new Key('r'), $store))->synchronized(function () use ($directory) {
            check(@mkdir("$directory/inside"), 'alone');
            $count = (int) file_get_contents("$directory/counter");
            file_put_contents("$directory/counter", (string) ($count + 1));
            rmdir("$directory/inside");
        });
    }
    return 0;
};
$children = [fork($work), fork($work), fork($work)];
foreach ($children as $child) {
    check_same('exit 0', $child->ending(), 'the ending');
}
check_same('300', file_get_contents("$directory/counter"), 'nothing is lost');
clearstatcache();
check(!file_exists($file), 'gone in the end');
echo "done\n";
--EXPECT--
done
