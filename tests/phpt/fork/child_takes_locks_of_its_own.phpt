--TEST--
A child takes locks after the fork; they are released at its end, however it comes
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

class Registry
{
    public static array $locks = [];
}

$directory = temporary_directory();
$store = new RecordingStore($directory);
$flock = new FlockStore($directory);
$make = fn () => [new Lock(new Key('file'), $flock), new Lock(new Key('php'), $store)];
/* Made, used and released before the fork: their objects and open files are inherited. */
$old = $make();
foreach ($old as $lock) {
    $lock->acquire();
    $lock->release();
}

$ways = [
    'exit' => fn () => exit(0),
    'exception' => fn () => throw new Exception(),
    'fatal error' => fn () => @trigger_error('the end', E_USER_ERROR),
];
foreach (['new locks' => $make, 'the old locks' => fn () => $old] as $which => $get) {
    foreach ($ways as $way => $end) {
        $store->forget_calls();
        $child = fork(function (ParentLine $parent) use ($get, $end, $directory) {
            Registry::$locks = $get();
            foreach (Registry::$locks as $lock) {
                check($lock->acquire(), 'acquired in the child');
                check($lock->isHeld() && $lock->isAcquired(), 'held in the child');
            }
            $parent->say('held');
            $parent->hear();
            return $end();
        });
        $child->hear_exactly('held');
        check(!is_free($directory, 'file') && $store->is_locked('php'), "$which: held by the child");
        foreach ($make() as $lock) {
            check(!$lock->acquire(), "$which: the parent cannot have it");
        }
        $child->say('go');
        $child->ending();
        check(is_free($directory, 'file') && !$store->is_locked('php'),
            "$which: released at the child's end by $way");
        check_same(1, $store->count_calls('delete'), "$which: calls of delete() ($way)");
    }
}
foreach ($old as $lock) {
    check($lock->acquire(), 'the parent has it again');
}
echo "done\n";
--EXPECT--
done
