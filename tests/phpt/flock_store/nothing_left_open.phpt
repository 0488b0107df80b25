--TEST--
Descriptors and threads are as many as before, whatever goes wrong
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$store = new FlockStore($directory);
$holders = [holder($directory, 'exclusive'), holder($directory, 'shared', LOCK_SH)];
pcntl_async_signals(true);
$pid = getmypid();

$things = [
    'conflict' => fn () => (new Lock(new Key('exclusive'), $store))->acquire(),
    'conflict of a reader' => fn () => (new Lock(new Key('exclusive'), $store))->acquireRead(),
    'timeout' => fn () => (new Lock(new Key('exclusive'), $store))->acquire(true, 0.01),
    'timeout of a reader' => fn () => (new Lock(new Key('exclusive'), $store))->acquireRead(true, 0.01),
    'timeout of synchronized()' => fn () => (new Lock(new Key('exclusive'), $store))->synchronized(fn () => 1, 0.01),
    'failed promotion' => function () use ($store) {
        $lock = new Lock(new Key('shared'), $store);
        check($lock->acquireRead(), 'reads');
        check(!$lock->acquire(), 'not promoted');
        check(!$lock->acquire(true, 0.01), 'not promoted in time');
        $lock->isAcquired();
    },
    'deadlock' => function () use ($store) {
        $first = new Lock(new Key('own'), $store);
        $first->acquire();
        (new Lock(new Key('own'), $store))->acquire(true);
    },
    'exception in synchronized()' => fn () => (new Lock(new Key('own'), $store))->synchronized(fn () => throw new Exception()),
    'by hand' => function () use ($store) {
        $store->save($key = new Key('own'));
        $store->save($key);
    },
    'by hand, a conflict' => fn () => $store->save(new Key('exclusive')),
    'handler that throws' => function () use ($store, $pid) {
        pcntl_signal(SIGUSR1, fn () => throw new Exception());
        $child = fork(function () use ($pid) {
            wait_until_it_waits($pid);
            posix_kill($pid, SIGUSR1);
            return 0;
        });
        try {
            (new Lock(new Key('exclusive'), $store))->acquire(true);
        } finally {
            $child->ending();
        }
    },
    'missing directory' => fn () => new FlockStore('/proc/no/such'),
    'many locks' => function () use ($store) {
        for ($i = 0; $i < 40; $i++) {
            $locks[] = $lock = new Lock(new Key("many $i"), $store);
            $lock->acquire();
        }
    },
    'many stores' => function () use ($directory) {
        for ($i = 0; $i < 12; $i++) {
            (new Lock(new Key('a'), new FlockStore("$directory/$i")))->acquire();
        }
    },
    'a fork with locks' => function () use ($store) {
        $lock = new Lock(new Key('own'), $store);
        $lock->acquire();
        fork(fn () => 0)->ending();
    },
];
foreach ($things as $name => $thing) {
    $before = null;
    for ($round = 0; $round < 4; $round++) {
        try {
            $thing();
        } catch (Exception) {
        }
        gc_collect_cycles();
        // after two rounds: the first may keep idle files for the next
        if ($round === 1) {
            $before = what_is_open();
        }
    }
    check_same($before, what_is_open(), $name);
    check_same(1, $before['threads'], "$name: threads");
}
check(what_is_open()['fds'] < 150, 'few idle files stay open: ' . what_is_open()['fds']);
echo "done\n";
--EXPECT--
done
