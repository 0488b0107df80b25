<?php

/*
 * recovery.php STORE WHERE TTL HOLDERS: so many processes have a lock each that is kept alive, and are killed. For
 * each: the nanoseconds from the kill until the process that waits for its lock has it; and, where locks have a
 * TTL, what was left of it at the kill, by the server's word. Without a TTL (0) nothing is renewed.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

use RuntimeException;

require __DIR__ . '/../lib/autoload.php';

const NS_PER_S = 1_000_000_000;
/** Between what is done to one holder and the same to the next where no TTL says how long that may take. */
const PAUSE_NS = 5_000_000;

[, $store, $where, $ttl, $holders] = $argv;
$expires = (int) $ttl > 0;
// After so long a lease is renewed; over so much time the holders begin.
$third = $expires ? intdiv((int) $ttl * NS_PER_S, 3) : (int) $holders * PAUSE_NS;

// At a sign of the parent: takes the lock, says when it had it, and has it until it is killed.
$hold = static function (Child $parent, string $resource) use ($store, $where, $ttl, $expires): void {
    $lock = Subject::Latch->locks($store, $where)->createLock($resource, $expires ? (float) $ttl : null);
    if ($expires) {
        $lock->keepAlive();
    }
    $parent->hear();
    $lock->acquire(true);
    $parent->say(hrtime(true));
    $parent->hear();
};
// At a sign of the parent: waits for the lock, says when it had it, and ends.
$wait = static function (Child $parent, string $resource) use ($store, $where, $ttl, $expires): void {
    $lock = Subject::Latch->locks($store, $where)->createLock($resource, $expires ? (float) $ttl : null);
    $parent->hear();
    $lock->acquire(true);
    $parent->say(hrtime(true));
    $lock->release();
};

// A kill for each part of the time between two renewals, in no order.
$phases = range(0, (int) $holders - 1);
shuffle($phases);
$cases = [];
foreach ($phases as $i => $phase) {
    $resource = "recovery-$i-" . getmypid();
    $cases[] = [
        'resource' => $resource,
        'phase' => intdiv($third * (2 * $phase + 1), 2 * (int) $holders),
        'holder' => Child::start(static fn (Child $parent) => $hold($parent, $resource)),
        'waiter' => Child::start(static fn (Child $parent) => $wait($parent, $resource)),
    ];
}

$begin = hrtime(true);
foreach ($cases as $i => &$case) {
    Clock::sleepUntil($begin + intdiv($third * $i, (int) $holders));
    $case['holder']->say(0);
    $case['acquired'] = $case['holder']->expect();
    $case['waiter']->say(0);
    $case['kill'] = $case['acquired'] + $third + $case['phase'];
}
unset($case);
usort($cases, static fn (array $one, array $other): int => $one['kill'] <=> $other['kill']);

$redis = $expires ? (new RedisAddress($where))->connect() : null;
foreach ($cases as &$case) {
    Clock::sleepUntil($case['kill']);
    $case['killed'] = hrtime(true);
    $case['holder']->kill();
    if ($expires) {
        // The server tells it in ms, rounded up: half of one less is the best guess.
        $left = $redis->pttl($case['resource']) * 1_000_000 - 500_000;
        $case['lease'] = hrtime(true) + $left - $case['killed'];
    }
}
unset($case);

$measured = ['recovery_ns' => [], 'lease_ns' => []];
foreach ($cases as $case) {
    $heldAt = $case['waiter']->expect();
    $case['waiter']->join();
    if ($heldAt < $case['killed']) {
        throw new RuntimeException('A lock has gone to the next one while its holder lived.');
    }
    if ($expires && $heldAt < $case['acquired'] + (int) $ttl * NS_PER_S * 7 / 6) {
        throw new RuntimeException('A lock was not kept alive.');
    }
    $measured['recovery_ns'][] = $heldAt - $case['killed'];
    if ($expires) {
        $measured['lease_ns'][] = $case['lease'];
    }
}

echo json_encode($measured, JSON_THROW_ON_ERROR);
