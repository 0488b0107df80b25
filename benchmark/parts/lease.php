<?php

/*
 * lease.php STORE WHERE SUBJECT LOCKS: the nanoseconds from the end of a killed holder's lease until the
 * next one has the lock, for each of so many locks at the same time. Two processes wait for each.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

use RuntimeException;

require __DIR__ . '/../lib/autoload.php';

const LEASE_SECONDS = 2;
const WAITERS = 2;
/** Holders begin one after the other, with up to so much time in between. */
const PHASES_US = 100_000;

[, $store, $where, $name, $locks] = $argv;
$subject = Subject::from($name);

// At a sign of the parent: takes the lock, and says when it had it.
$start = static fn (string $resource, bool $releases): Child => Child::start(
    static function (Child $parent) use ($subject, $store, $where, $resource, $releases): void {
        $lock = $subject->locks($store, $where)->createLock($resource, (float) LEASE_SECONDS);
        $parent->hear();
        $lock->acquire(true);
        $parent->say(hrtime(true));
        if (!$releases) {
            $parent->hear();
        }
        $lock->release();
    },
);

$cases = [];
for ($i = 0; $i < (int) $locks; ++$i) {
    $resource = "lease-$i-" . getmypid();
    $holder = $start($resource, false);
    $waiters = [];
    while (count($waiters) < WAITERS) {
        $waiters[] = $start($resource, true);
    }
    $cases[] = [$holder, $waiters];
}

$leaseEnds = [];
foreach ($cases as [$holder, $waiters]) {
    usleep(random_int(0, PHASES_US));
    $holder->say(0);
    $leaseEnds[] = $holder->expect() + LEASE_SECONDS * 1_000_000_000;
    foreach ($waiters as $waiter) {
        $waiter->say(0);
    }
}
usleep(PHASES_US);
foreach ($cases as [$holder]) {
    $holder->kill();
}
if (hrtime(true) > min($leaseEnds)) {
    throw new RuntimeException('A lease has ended before its holder.');
}

$delays = [];
foreach ($cases as $i => [, $waiters]) {
    $heldAt = array_map(static fn (Child $waiter): int => $waiter->expect(), $waiters);
    $delays[] = min($heldAt) - $leaseEnds[$i];
    foreach ($waiters as $waiter) {
        $waiter->join();
    }
}

echo json_encode($delays, JSON_THROW_ON_ERROR);
