--TEST--
A description that a daemon still has open is not used for another lock
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$store = new FlockStore($directory);
$lock = new Lock(new Key('file'), $store, null, false);
$lock->acquire();
$daemon = fork(function (ParentLine $parent) use ($lock) {
    $parent->hear_exactly('the parent has released and taken it again');
    $lock->release();
    $parent->say('released');
    $parent->say($lock->acquire() ? 'acquired' : 'not acquired');
    $parent->hear();
    return 0;
});
$lock->release();
check(is_free($directory, 'file'), 'released by hand for both');
$automatic = new Lock(new Key('file'), $store);
check($automatic->acquire(), 'taken again');
$daemon->say('the parent has released and taken it again');
$daemon->hear_exactly('released');
$daemon->hear_exactly('not acquired');
check(!is_free($directory, 'file') && $automatic->isAcquired(), "the daemon's release has not freed it");
$daemon->say('end');
$daemon->ending();
check(!is_free($directory, 'file'), "nor has its end");
$automatic->release();

/* The other way round: the daemon releases and takes it again. */
$lock->acquire();
$daemon = fork(function (ParentLine $parent) use ($lock, $store) {
    $lock->release();
    $automatic = new Lock(new Key('file'), $store);
    check($automatic->acquire(), 'taken again by the daemon');
    $parent->say('taken');
    $parent->hear();
    return 0;
});
$daemon->hear_exactly('taken');
$lock->release();
check(!is_free($directory, 'file'), "the parent's release has not freed it");
check(!$lock->acquire(), 'and the parent cannot have it');
$daemon->say('end');
$daemon->ending();
check(is_free($directory, 'file'), 'free at the end of the daemon');
echo "done\n";
--EXPECT--
done
