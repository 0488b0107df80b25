<?php

/*
 * drain.php STORE WHERE SUBJECT WAITERS DRAINS KILLED PHASES_US: the nanoseconds from just before a release until
 * the next one has the lock, for each of DRAINS queues: so many processes wait for a lock, have it one
 * after the other for 1 ms, and do not come back. In the last queue KILLED of them are killed while they
 * wait. Waiters come, and the holder goes, at random within PHASES_US: the time between two polls of who polls.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

use RuntimeException;

require __DIR__ . '/../lib/autoload.php';

/** How long the last of them has waited for at least. */
const SETTLED_US = 20_000;
const HOLD_NS = 1_000_000;

[, $store, $where, $name, $waiters, $drains, $killed, $phasesUs] = $argv;
$phasesUs = (int) $phasesUs;
$subject = Subject::from($name);
$resource = 'drain-' . getmypid();

// At each sign of the parent: says that it will wait, waits, says from when until when it had the lock.
$wait = static function (Child $parent) use ($subject, $store, $where, $resource, $phasesUs): void {
    $lock = $subject->locks($store, $where)->createLock($resource, 30.0);
    while ($parent->hear() !== null) {
        usleep(random_int(0, $phasesUs));
        $parent->say(0);
        $lock->acquire(true);
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
$lock = $subject->locks($store, $where)->createLock($resource, 30.0);

$gaps = [];
for ($left = (int) $drains; $left > 0; --$left) {
    $lock->acquire(true);
    foreach ($children as $child) {
        $child->say(0);
    }
    foreach ($children as $child) {
        $child->expect();
    }
    usleep(SETTLED_US);
    if ($left === 1 && $killed > 0) {
        shuffle($children);
        foreach (array_splice($children, 0, (int) $killed) as $child) {
            $child->kill();
        }
        // The server learns of it by itself.
        usleep(SETTLED_US);
    }
    Clock::sleepUntil(hrtime(true) + random_int(0, $phasesUs) * 1_000);

    $releasedAt = hrtime(true);
    $lock->release();
    $holds = [];
    foreach ($children as $child) {
        $heldAt = $child->expect();
        $holds[$heldAt] = $child->expect();
    }
    ksort($holds);
    $some = [];
    foreach ($holds as $heldAt => $until) {
        if ($heldAt < $releasedAt) {
            throw new RuntimeException('Two had the lock at once.');
        }
        $some[] = $heldAt - $releasedAt;
        $releasedAt = $until;
    }
    $gaps[] = $some;
}
foreach ($children as $child) {
    $child->join();
}

echo json_encode($gaps, JSON_THROW_ON_ERROR);
