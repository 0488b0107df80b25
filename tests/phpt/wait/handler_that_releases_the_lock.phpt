--TEST--
A handler may release the very lock that is waited for, with a timeout
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

pcntl_async_signals(true);
$directory = temporary_directory();
$stores = [
    'flock' => [new FlockStore($directory), fn (int $pid) => queues_for_a_flock($pid)],
    'PHP store' => [$recording = new RecordingStore($directory), fn (int $pid) => sleeps_between_tries($recording, $pid)],
];
foreach ($stores as $name => [$store, $waits]) {
    $signaller = signaller($waits);
    $held = new Lock(new Key('resource'), $store);
    $held->acquire();
    pcntl_signal(SIGUSR1, function () use ($held) {
        Log::note('released in the handler');
        $held->release();
    });
    Log::$events = [];
    $waiting = new Lock(new Key('resource'), $store);
    $signaller->say((string) SIGUSR1);
    check($waiting->acquire(true, PATIENCE), "$name: acquired");
    Log::note('acquired');
    check_same(['released in the handler', 'acquired'], Log::$events, "$name: events");
    check($waiting->isAcquired() && !$held->isAcquired(), "$name: who has it");
    check(!$held->acquire(), "$name: the first cannot have it now");
    $waiting->release();
    $signaller->kill();
}
echo "done\n";
--EXPECT--
done
