--TEST--
The time limit ends a wait for a store written in PHP, whose polls burn the time
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};

class BurningStore extends RecordingStore
{
    public function save(Key $key): void
    {
        $until = hrtime(true) + 2e8;
        while (hrtime(true) < $until) {
            // processor time
        }
        parent::save($key);
    }
}

$directory = temporary_directory();
$child = fork(function () use ($directory) {
    $held = new Lock(new Key('a'), new RecordingStore($directory));
    $held->acquire();
    set_time_limit(1);
    (new Lock(new Key('a'), new BurningStore($directory)))->acquire(true);
});
check_same('died of: Maximum execution time of 1 second exceeded', $child->hear(), 'last words');
check_same('exit 255', $child->ending(), 'the ending');
check(!(new RecordingStore($directory))->is_locked('a'), 'nothing is left');
echo "done\n";
--EXPECT--
done
