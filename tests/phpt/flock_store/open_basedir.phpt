--TEST--
open_basedir holds for the lock directory
--INI--
open_basedir={PWD}
--FILE--
<?php
use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$inside = __DIR__ . '/open_basedir-' . getmypid();
foreach (['/tmp', '/', '/etc', null, __DIR__ . '/../../..', "$inside/../../../elsewhere"] as $path) {
    try {
        new FlockStore($path);
        echo "BROKEN: ", var_export($path, true), "\n";
    } catch (Latch\Exception\InvalidArgumentException $e) {
        if (!str_contains($e->getMessage(), 'open_basedir')) {
            echo $e->getMessage(), "\n";
        }
    }
}
$lock = new Lock(new Key('a'), new FlockStore($inside));
var_dump($lock->acquire());
exec('ln -s /tmp ' . escapeshellarg("$inside/link"));
try {
    new FlockStore("$inside/link");
    echo "BROKEN: a link\n";
} catch (Latch\Exception\InvalidArgumentException) {
}
unset($lock);
exec('rm -r ' . escapeshellarg($inside));
echo "done\n";
--EXPECT--
bool(true)
done
