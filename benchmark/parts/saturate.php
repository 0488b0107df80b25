<?php

/*
 * saturate.php STORE WHERE HOLD_US SECONDS COMPUTES LATCH SYMFONY LARAVEL: so many processes of each want one lock
 * again and again, and hold it for so long each time, asleep, or computing all the time (1). How often each
 * of them got it meanwhile, Latch's first, and which requests a Redis server had from them.
 *
 * The counting begins when each of them has got it twice, the second time by waiting: then all have what
 * they keep for further waits. Who is starved is waited for a while only.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

const FIRST_HOLDS_US = 1_000;
const PATIENCE_NS = 12_000_000_000;

[, $store, $where, $holdUs, $seconds] = $argv;
$computes = (bool) $argv[5];
$numbers = array_slice($argv, 6);
$resource = 'saturate-' . getmypid();

// The parent says how many microseconds a hold takes from now on; 0: it is over.
$contend = static fn (Subject $subject): Child => Child::start(
    static function (Child $parent) use ($subject, $store, $where, $resource, $computes): void {
        $lock = $subject->locks($store, $where)->createLock($resource, 30.0);
        $heldAt = [];
        for ($holdUs = FIRST_HOLDS_US; $holdUs > 0;) {
            $lock->acquire(true);
            $heldAt[] = $begun = hrtime(true);
            if (count($heldAt) === 2) {
                $parent->say(0);
            }
            if ($computes) {
                Clock::watchUntil($begun + $holdUs * 1_000);
            }
            while ($holdUs > 0 && $parent->speaksBefore($begun + $holdUs * 1_000)) {
                $holdUs = (int) $parent->hear();
            }
            $lock->release();
        }
        if (count($heldAt) < 2) {
            $parent->say(0);
        }
        array_map($parent->say(...), [count($heldAt), ...$heldAt]);
    },
);
$children = array_map($contend, array_merge(...array_map(
    static fn (Subject $subject, string $number): array => array_fill(0, (int) $number, $subject),
    Subject::cases(),
    $numbers,
)));
$sayAll = static function (int $number) use ($children): void {
    foreach ($children as $child) {
        $child->say($number);
    }
};
$server = $store === 'redis' ? new RedisRequests(new RedisAddress($where)) : null;

$patientUntil = hrtime(true) + PATIENCE_NS;
foreach ($children as $child) {
    $child->speaksBefore($patientUntil);
}
if ((int) $holdUs !== FIRST_HOLDS_US) {
    $sayAll((int) $holdUs);
    // In the middle of a hold, as it will be at the end: no acquisition is counted in part.
    usleep(intdiv((int) $holdUs, 2));
}
$server?->begin();
$from = hrtime(true);
usleep((int) ((float) $seconds * 1e6));
$until = hrtime(true);
$requests = $server?->sinceBegun();
$sayAll(0);

$counts = [];
foreach ($children as $child) {
    $child->expect();
    $heldAt = [];
    for ($left = $child->expect(); $left > 0; --$left) {
        $heldAt[] = $child->expect();
    }
    $counts[] = count(array_filter($heldAt, static fn (int $at): bool => $at >= $from && $at < $until));
    $child->join();
}

echo json_encode([
    'seconds' => ($until - $from) / 1e9,
    'times_held' => $counts,
    'requests' => $requests,
], JSON_THROW_ON_ERROR);
