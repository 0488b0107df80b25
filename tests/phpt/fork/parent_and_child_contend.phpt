--TEST--
Parent and children that wait for the same lock never overlap
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$flock = new FlockStore($directory);
$lock = new Lock(new Key('file'), $flock);
$lock->acquire();
$lock->release();
file_put_contents("$directory/counter", '0');

$work = function () use ($lock, $directory) {
    for ($i = 0; $i < 25; $i++) {
        $lock->synchronized(function () use ($directory) {
            $inside = @mkdir("$directory/inside");
            check($inside, 'alone');
            $count = (int) file_get_contents("$directory/counter");
            usleep(200);
            file_put_contents("$directory/counter", (string) ($count + 1));
            rmdir("$directory/inside");
        });
    }
    return 0;
};
$children = [];
for ($i = 0; $i < 3; $i++) {
    $children[] = fork($work);
}
$work();
foreach ($children as $child) {
    check_same('exit 0', $child->ending(), 'the ending');
}
check_same('100', file_get_contents("$directory/counter"), 'nothing is lost');
echo "done\n";
--EXPECT--
done
