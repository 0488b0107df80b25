<?php

/*
 * laravel_queue.php DIRECTORY SUBJECT WAITERS DRAINS: the nanoseconds from just before a release until the next process has the
 * lock, of DRAINS queues: so many processes of the application call block() one after the other, have the lock for 1 ms, and do
 * not come back. And how many of them had it in the place in which they came. The holder goes at random within 250 ms, between
 * two polls of Laravel.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

use RuntimeException;

require __DIR__ . '/../lib/autoload.php';

const HOLD_NS = 1_000_000;
const POLL_US = 250_000;
/** From one waiter to the next: time to get in line, and to poll at different moments. */
const ARRIVAL_US = [15_000, 45_000];

[, $directory, $subject, $waiters, $drains] = $argv;
$resource = 'drain-' . getmypid();

// At each sign of the parent: says that it will wait, waits, says from when until when it had the lock.
$wait = static function (Child $parent) use ($directory, $subject, $resource): void {
    $store = (new LaravelApplication($directory, $subject))->store;
    // Connects, and loads the classes.
    $store->lock("$resource-" . getmypid(), 30)->get(static fn (): bool => true);
    while ($parent->hear() !== null) {
        $lock = $store->lock($resource, 30);
        $parent->say(0);
        $lock->block(60);
        $heldAt = hrtime(true);
        Clock::sleepUntil($heldAt + HOLD_NS);
        $releasedAt = hrtime(true);
        $lock->release();
        $parent->say($heldAt);
        $parent->say($releasedAt);
    }
};

$children = [];
for ($i = 0; $i < (int) $waiters; ++$i) {
    $children[] = Child::start($wait);
}
$store = (new LaravelApplication($directory, $subject))->store;

$gaps = [];
$inOrder = 0;
for ($left = (int) $drains; $left > 0; --$left) {
    $lock = $store->lock($resource, 30);
    $lock->block(60);
    foreach ($children as $child) {
        $child->say(0);
        $child->expect();
        usleep(random_int(...ARRIVAL_US));
    }
    Clock::sleepUntil(hrtime(true) + random_int(0, POLL_US) * 1_000);

    $releasedAt = hrtime(true);
    $lock->release();
    $holds = [];
    foreach ($children as $i => $child) {
        $heldAt = $child->expect();
        $holds[$heldAt] = [$i, $child->expect()];
    }
    ksort($holds);
    foreach (array_keys($holds) as $place => $heldAt) {
        if ($heldAt < $releasedAt) {
            throw new RuntimeException('Two had the lock at once.');
        }
        $gaps[] = $heldAt - $releasedAt;
        [$i, $releasedAt] = $holds[$heldAt];
        $inOrder += $i === $place ? 1 : 0;
    }
}
foreach ($children as $child) {
    $child->join();
}

echo json_encode(['gaps' => $gaps, 'in_order' => $inOrder], JSON_THROW_ON_ERROR);
