<?php

/*
 * count_down.php DSN TIMES PHASES_US: the nanoseconds from just before the last arrival at a count-down until a process
 * that waits in await() goes on, for each of TIMES count-downs. The arrival comes at random within PHASES_US.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Store\RedisStore;
use Latch\SyncFactory;

require __DIR__ . '/../lib/autoload.php';

/** How long it has waited for at least. */
const SETTLED_US = 20_000;

[, $dsn, $times, $phasesUs] = $argv;

// At each sign of the parent: says that it will wait, waits, says when it went on.
$waiter = Child::start(static function (Child $parent) use ($dsn): void {
    $sync = new SyncFactory(new RedisStore($dsn));
    while (($number = $parent->hear()) !== null) {
        $count = $sync->createCountDown("count-$number");
        $parent->say(0);
        $count->await();
        $parent->say(hrtime(true));
    }
});

$sync = new SyncFactory(new RedisStore($dsn));
$latencies = [];
for ($number = 1; $number <= (int) $times; ++$number) {
    $count = $sync->createCountDown("count-$number");
    $count->open(['last']);
    $waiter->say($number);
    $waiter->expect();
    usleep(SETTLED_US);
    Clock::sleepUntil(hrtime(true) + random_int(0, (int) $phasesUs) * 1_000);
    $arrivedAt = hrtime(true);
    $count->arrive('last');
    $latencies[] = $waiter->expect() - $arrivedAt;
}
$waiter->join();

echo json_encode($latencies), "\n";
