--TEST--
Parent and child exclude each other on the same resource, whatever was open at the fork
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$flock = new FlockStore($directory);
$key = new Key('file');
$lock = new Lock($key, $flock);
/* The file stays open, unlocked, for the next time: the child must not lock the shared description. */
$lock->acquire();
$lock->release();

function try_all(FlockStore $flock, Key $key, Lock $lock, string $directory): string
{
    $locks = [$lock, new Lock($key, $flock), new Lock(new Key('file'), $flock),
        new Lock(new Key('file'), new FlockStore($directory))];
    $got = array_map(fn (Lock $lock) => $lock->acquire() ? 'yes' : 'no', $locks);
    foreach ($locks as $lock) {
        $lock->release();
    }
    return implode(' ', $got);
}

$child = fork(function (ParentLine $parent) use ($flock, $key, $lock, $directory) {
    $parent->hear_exactly('the parent holds');
    $parent->say(try_all($flock, $key, $lock, $directory));
    $parent->hear_exactly('the parent has released');
    $parent->say($lock->acquire() ? 'yes' : 'no');
    $parent->hear_exactly('let go');
    $lock->release();
    $parent->say('released');
    $parent->hear();
    return 0;
});
check($lock->acquire(), 'the parent takes it');
$child->say('the parent holds');
$child->hear_exactly('no no no no');
check(!is_free($directory, 'file'), "the child's tries have not freed it");
check($lock->isAcquired(), "the parent still has it");
$lock->release();
$child->say('the parent has released');
$child->hear_exactly('yes');
check_same('no no no no', try_all($flock, $key, $lock, $directory), 'the parent cannot have it');
check(!is_free($directory, 'file'), "the parent's tries have not freed it");
$child->say('let go');
$child->hear_exactly('released');
check($lock->acquire(), 'the parent has it again');
$lock->release();
$child->say('end');
$child->ending();

/* Taken before the fork, both kinds; the child's release by hand of an automatic one frees nothing. */
$lock->acquire();
$child = fork(function () use ($lock, $flock, $directory) {
    check(!$lock->isAcquired() && !$lock->isHeld(), "a parent's lock is not its child's");
    $lock->release();
    check(!$lock->acquire(), 'the child cannot take it');
    check(!(new Lock(new Key('file'), $flock))->acquireRead(), 'nor read it');
    check(!is_free($directory, 'file'), 'held');
    return 0;
});
$child->ending();
check(!is_free($directory, 'file') && $lock->isAcquired(), 'the parent still has it');
$lock->release();

/* Readers on both sides; a writer on neither. */
$lock->acquireRead();
$child = fork(function (ParentLine $parent) use ($lock, $flock) {
    $mine = new Lock(new Key('file'), $flock);
    check($mine->acquireRead(), 'the child reads along');
    check(!$mine->acquire(), 'the child cannot write');
    check($mine->isAcquired(), 'and still reads');
    $parent->say('reading');
    $parent->hear();
    return 0;
});
$child->hear_exactly('reading');
check(!$lock->acquire(), 'the parent cannot write');
check($lock->isAcquired(), 'and still reads');
$child->say('end');
$child->ending();
check($lock->acquire(), 'the parent writes when the child is gone');
echo "done\n";
--EXPECT--
done
