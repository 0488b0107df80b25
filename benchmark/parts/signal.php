<?php

/*
 * signal.php STORE COUNT FOLDER: the nanoseconds from sending a signal until its pcntl handler runs in a
 * process that waits in acquire(true), for each of COUNT signals (SIGALRM and SIGTERM in turn).
 * Latch alone: pure PHP sleeps in flock(2), and its handler runs only when the lock is there.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $store, $count, $folder] = $argv;
$signals = [SIGALRM, SIGTERM];

$lock = Subject::Latch->locks($store, $folder)->createLock('signal');
$lock->acquire();

$waiter = Child::start(static function (Child $holder) use ($signals, $store, $folder): void {
    pcntl_async_signals(true);
    foreach ($signals as $signal) {
        pcntl_signal($signal, static fn () => $holder->say(hrtime(true)));
    }
    $lock = Subject::Latch->locks($store, $folder)->createLock('signal');
    $holder->say(0);
    $lock->acquire(true);
});

$waiter->expect();
$latencies = [];
while (count($latencies) < (int) $count) {
    usleep(random_int(1_000, 5_000));
    $sentAt = hrtime(true);
    posix_kill($waiter->pid, $signals[count($latencies) % 2]);
    $latencies[] = $waiter->expect() - $sentAt;
}
$lock->release();
$waiter->join();

echo json_encode($latencies, JSON_THROW_ON_ERROR);
