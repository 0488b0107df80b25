--TEST--
unset() of the last reference releases a lock, of an earlier one does not
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$keys = [new Key('file'), new Key('php')];
$php = new RecordingStore($directory);
$locks = [new Lock($keys[0], new FlockStore($directory)), new Lock($keys[1], $php)];
foreach ($locks as $lock) {
    $lock->acquire();
}
unset($lock);
$other = $locks;
unset($locks);
check(!is_free($directory, 'file') && $php->is_locked('php'), 'held while a reference is left');
unset($other);
check(is_free($directory, 'file') && !$php->is_locked('php'), 'released by unset()');
check_same(1, $php->count_calls('delete'), 'calls of delete()');
echo "done\n";
--EXPECT--
done
