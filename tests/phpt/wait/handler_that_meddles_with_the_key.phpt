--TEST--
A handler that meddles with the key of the waiting lock breaks nothing but that lock
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

const STATE = 'Symfony\Component\Lock\Store\FlockStore';

pcntl_async_signals(true);
$directory = temporary_directory();
['hold' => $hold, 'waits' => $waits] = ways_to_wait($directory)['flock'];
$store = new FlockStore($directory);
$before = null;

foreach ([
    'constructs' => fn (Key $key) => $key->__construct('another name'),
    'unserialises' => fn (Key $key) => $key->__unserialize(['resource' => 'file']),
    'unserialises another' => fn (Key $key) => $key->__unserialize(['resource' => 'another name']),
    'sets the state' => fn (Key $key) => $key->setState(STATE, 'b'),
    'removes the state' => fn (Key $key) => $key->removeState(STATE),
    'clones and forgets' => function (Key $key) {
        $clone = clone $key;
        $clone->setState(STATE, 'c');
        $clone->removeState(STATE);
    },
    'uses it in another lock' => fn (Key $key) => (new Lock($key, new FlockStore($key = sys_get_temp_dir())))->isHeld(),
    'uses it in the same store' => function (Key $key) use ($store) {
        try {
            $store->delete($key);
        } catch (Latch\Exception\ExceptionInterface) {
        }
    },
] as $name => $meddle) {
    foreach (['new', 'promoted'] as $case) {
        $holder = $case === 'new' ? $hold() : holder($directory, 'file', LOCK_SH);
        $signaller = signaller($waits);
        $key = new Key('file');
        $key->setState(STATE, 'a');
        $lock = new Lock($key, $store);
        if ($case === 'promoted') {
            $lock->acquireRead();
        }
        pcntl_signal(SIGUSR1, function () use ($key, $meddle, $holder) {
            try {
                $meddle($key);
            } catch (Latch\Exception\ExceptionInterface | Error) {
            }
            Log::note('handled');
            $holder->say('release');
        });
        Log::$events = [];
        $signaller->say((string) SIGUSR1);
        try {
            $lock->acquire(true);
        } catch (Latch\Exception\ExceptionInterface $e) {
        }
        check_same(['handled'], Log::$events, "$name, $case: events");
        $signaller->kill();
        $signaller->ending();
        $holder->ending();
        unset($lock, $key, $e, $holder, $signaller);
        gc_collect_cycles();
        $signaller = $holder = null;
        check(is_free($directory, 'file'), "$name, $case: free in the end");
        $before ??= what_is_open();
        check_same($before['threads'], what_is_open()['threads'], "$name, $case: threads");
    }
}
echo "done\n";
--EXPECT--
done
