--TEST--
A lock in a cycle is released by the garbage collector and at the script's end
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

/* A cycle around a Lock, and one that leads through the Lock itself: lock -> store -> lock. */
class CycleStore extends RecordingStore
{
    public ?Lock $lock = null;
}

$directory = temporary_directory();
$keys = [new Key('file'), new Key('php')];
$php = new CycleStore($directory);
(function () use ($directory, $keys) {
    $node = new stdClass();
    $node->self = $node;
    $node->lock = new Lock($keys[0], new FlockStore($directory));
    $node->lock->acquire();
    $store = new CycleStore($directory);
    $store->lock = new Lock(new Key('php'), $store);
    $store->lock->acquire();
})();
check(!is_free($directory, 'file') && $php->is_locked('php'), 'held until the collector runs');
check(gc_collect_cycles() > 0, 'cycles are found');
check(is_free($directory, 'file'), 'released by the collector');
check(!$php->is_locked('php'), 'released in the PHP store by the collector');
check_same(1, $php->count_calls('delete'), 'calls of delete()');

prove_released(function ($take) {
    [$file, $php] = $take();
    $node = new stdClass();
    $node->self = [$node, $file, $php];
    return 0;
}, 'exit 0');
echo "done\n";
--EXPECT--
done
