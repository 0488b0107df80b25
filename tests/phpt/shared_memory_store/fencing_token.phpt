--TEST--
SharedMemoryStore: fencing tokens rise from writer to writer, over processes, deaths, and another file at the path
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\SharedMemoryStore;

$path = temporary_directory() . '/locks';
$make = fn () => new Lock(new Key('r'), new SharedMemoryStore($path, 100));
$last = 0;
$rises = function (?int $token, string $case) use (&$last) {
    check(is_int($token) && $token > $last, "$case: " . var_export($token, true) . " after $last");
    $last = $token;
};

$lock = $make();
check_same(null, $lock->getFencingToken(), 'before');
for ($round = 0; $round < 3; $round++) {
    $lock->acquire();
    $rises($token = $lock->getFencingToken(), 'acquired');
    $lock->acquire();
    check_same($token, $lock->getFencingToken(), 'acquired once more');
    check_same($token, (new SharedMemoryStore($path))->inspect(new Key('r'))['holders'][0]['fencingToken'], 'as others see it');
    $lock->acquireRead();
    check_same(null, $lock->getFencingToken(), 'demoted');
    $lock->acquire();
    $rises($lock->getFencingToken(), 'promoted');
    $lock->release();
    check_same(null, $lock->getFencingToken(), 'released');
}

$child = fork(function (ParentLine $parent) use ($make) {
    $lock = $make();
    $lock->acquire();
    $parent->say((string) $lock->getFencingToken());
    $parent->stay();
});
$rises((int) $child->hear(), 'another process');
$child->kill();
$child->ending();
$lock->acquire(true);
$rises($lock->getFencingToken(), 'after its death');

$child = fork(function (ParentLine $parent) use ($lock, $make) {
    $parent->say(var_export($lock->getFencingToken(), true));
    return 0;
});
check_same('NULL', $child->hear(), 'a child has none');
$child->ending();
$lock->release();

unlink($path);
$child = fork(function (ParentLine $parent) use ($make) { // as another program, which had not opened the file before
    $lock = $make();
    $lock->acquire();
    $parent->say((string) $lock->getFencingToken());
    return 0;
});
$rises((int) $child->hear(), 'in a new file');
$child->ending();
wait_until(function () use ($lock, $last) { // for a tenth of a second this process may not know of it
    $lock->acquire(true);
    if ($lock->getFencingToken() > $last) {
        return true;
    }
    $lock->release();
    return false;
}, 'it is in the new file here, too');
echo "done\n";
--EXPECT--
done
