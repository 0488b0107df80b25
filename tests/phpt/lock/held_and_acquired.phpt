--TEST--
isHeld() knows without asking, isAcquired() asks
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore, NullStore};

$directory = temporary_directory();
$recording = new RecordingStore($directory);
foreach (['flock' => new FlockStore($directory), 'memory' => new InMemoryStore(), 'PHP' => $recording] as $name => $store) {
    $lock = new Lock($key = new Key('a'), $store, 60);
    check(!$lock->isHeld() && !$lock->isAcquired(), "$name: not at first");
    $lock->acquire();
    check($lock->isHeld() && $lock->isAcquired(), "$name: acquired");
    $recording->forget_calls();
    $lock->isHeld();
    check_same([], $recording->calls(), "$name: isHeld() asks nobody");
    $lock->release();
    check(!$lock->isHeld() && !$lock->isAcquired(), "$name: released");
    check(!(new Lock(new Key('a'), $store))->isHeld(), "$name: another key");
    $lock->acquireRead();
    check($lock->isHeld() && $lock->isAcquired(), "$name: reading");
    $lock->acquire();
    check($lock->isHeld() && $lock->isAcquired(), "$name: promoted");
    $lock->acquireRead();
    check($lock->isHeld() && $lock->isAcquired(), "$name: demoted");
}
/* An expiry that the store noted. */
$lock = new Lock($key = new Key('b'), $recording, 60);
$lock->acquire();
check($lock->isHeld(), 'held');
$short = new Lock($key = new Key('c'), $recording, 0.01);
try {
    $short->acquire();
    wait_until(fn () => !$short->isHeld(), 'it runs out');
    // which counts from a moment later
    wait_until(fn () => $short->isExpired(), 'expired');
} catch (Latch\Exception\ExceptionInterface) {
}
$null = new Lock(new Key('d'), new NullStore());
check($null->acquire() && !$null->isHeld() && !$null->isAcquired(), 'NullStore: never held');

/* A store that was never constructed holds nothing, whatever else the key holds. */
class Unconstructed extends FlockStore
{
    public function __construct()
    {
    }
}
$key = new Key('e');
$lock = new Lock($key, $recording, null, false);
$lock->acquire();
check(!(new Lock($key, new Unconstructed()))->isHeld(), 'an unconstructed store holds nothing');
$lock->release();
echo "done\n";
--EXPECT--
done
