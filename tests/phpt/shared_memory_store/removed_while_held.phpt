--TEST--
SharedMemoryStore: a lock whose file is removed or replaced is lost, and its holder is told
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\{Key, Lock};
use Latch\Store\SharedMemoryStore;

$directory = temporary_directory();
$path = "$directory/locks";
$make = fn () => new Lock(new Key('r'), new SharedMemoryStore($path, 100), 300.0);
$losses = new Losses();
$ways = [
    'removed' => fn () => unlink($path),
    'moved away' => fn () => rename($path, "$path.old"),
    'replaced' => function () use ($path) {
        $new = $path . bin2hex(random_bytes(4));
        new SharedMemoryStore($new, 100);
        rename($new, $path);
    },
];
foreach ($ways as $way => $remove) {
    foreach (['acquire', 'acquireRead'] as $method) {
        foreach ([
            'isHeld' => fn (Lock $lock) => wait_until(fn () => !$lock->isHeld(), 'isHeld() knows it, after a tenth of a second'),
            'isAcquired' => fn (Lock $lock) => check(!$lock->isAcquired(), 'isAcquired() knows it at once'),
            'refresh' => fn (Lock $lock) => check_same('Latch\Exception\LockConflictedException: The "r" lock cannot be renewed: it is not held, or '
                . 'not any more; acquire it anew.', outcome(fn () => $lock->refresh()), 'and so does refresh()'),
        ] as $question => $ask) {
            $lock = $make();
            check($lock->$method() && $lock->isHeld(), "$way, $method");
            $remove();
            $ask($lock);
            check(!$lock->isHeld() && !$lock->isAcquired(), "$way, $method: lost");
            $lock->release();
            $other = $make();
            check($other->acquire() && is_file($path), "$way, $method: a new file");
            $lock->release();
            check($other->isHeld() && !$lock->acquire(), "$way, $method: the other one's");
            $other->release();
            check($lock->acquire() && $lock->isHeld(), "$way, $method: to be had again");
            $lock->release();
        }
    }
    $lock = $make()->keepAlive()->onLost($losses->note($way));
    $lock->acquire();
    $remove();
    $losses->await($way);
    check(!$lock->isAcquired(), "$way: lost");
    unset($lock);
}

/* Somebody waits: in the new file then. */
$lock = $make();
$lock->acquire();
$waiter = fork(function (ParentLine $parent) use ($make) {
    $mine = $make();
    $mine->acquire(true);
    $parent->say('held');
    $parent->hear();
    return 0;
});
wait_until(fn () => (new SharedMemoryStore($path))->inspect(new Key('r'))['waiters'] === 1, 'it waits');
unlink($path);
$waiter->hear_exactly('held');
wait_until(fn () => !$lock->isHeld(), 'the holder has lost it');
check(!$lock->acquire(), 'it is the waiter\'s');
$waiter->say('end');
check_same('exit 0', $waiter->ending(), 'the waiter');
check($lock->acquire(true), 'free again');
echo "done\n";
--EXPECT--
done
