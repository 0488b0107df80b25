--TEST--
A destructor that cannot release throws, as Symfony's, while the script runs
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};

$store = new RecordingStore(temporary_directory());
foreach (['delete' => 'Failed to release the "a" lock.', 'exists' => 'no exists'] as $step => $message) {
    $lock = new Lock(new Key('a'), $store);
    $lock->acquire();
    $store->before = function (string $call) use ($step) {
        if ($call === $step) {
            throw new RuntimeException("no $step");
        }
    };
    try {
        unset($lock);
        echo "BROKEN: $step\n";
    } catch (RuntimeException $e) {
        check_same($message, $e->getMessage(), $step);
    }
    $store->before = null;
    check_same(1, $store->count_calls($step), "$step: called once");
    $store->forget_calls();
    @array_map('unlink', array_filter(glob("$store->directory/*"), fn ($path) => strlen(basename($path)) === 40));
}

/* While another exception is on its way, both arrive. */
try {
    (function () use ($store) {
        $lock = new Lock(new Key('b'), $store);
        $lock->acquire();
        $store->before = fn (string $call) => $call === 'delete' ? throw new RuntimeException('no delete') : null;
        throw new DomainException('mine');
    })();
} catch (Throwable $e) {
    $chain = [];
    for (; $e !== null; $e = $e->getPrevious()) {
        $chain[] = $e->getMessage();
    }
    check(in_array('mine', $chain), 'the first exception: ' . implode(' < ', $chain));
}
$store->before = null;
echo "done\n";
--EXPECT--
done
