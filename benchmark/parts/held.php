<?php

/*
 * held.php SUBJECT STORE COUNT FOLDER: what COUNT held locks cost, as bytes for each lock
 * (PHP's own count, and what the process grew by); what one more acquire and release costs while
 * they are held; and what each costs that is made and acquired until all are held, and destroyed
 * when all were; in nanoseconds.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $name, $store, $count, $folder] = $argv;
$count = (int) $count;
$subject = Subject::from($name);
$factory = $subject->locks($store, $folder);

/** Bytes that the process has in memory. */
$resident = static fn (): int => (int) Programs::statusLine('VmRSS') * 1024;

$once = static function () use ($factory): int {
    $lock = $factory->createLock('one more');
    $begun = hrtime(true);
    for ($i = 0; $i < 1_000; ++$i) {
        $lock->acquire();
        $lock->release();
    }

    return intdiv(hrtime(true) - $begun, 1_000);
};

// Whatever is loaded or made only once, and the array itself, is not what a lock costs.
$once();
$resident();
$locks = array_fill(0, $count, null);
$heapBefore = memory_get_usage();
$residentBefore = $resident();

for ($i = 0; $i < $count; ++$i) {
    $locks[$i] = $factory->createLock("resource-$i");
    $locks[$i]->acquire();
}
$heap = (memory_get_usage() - $heapBefore) / $count;
$grown = ($resident() - $residentBefore) / $count;
$oneMore = Stats::median(array_map($once, range(1, 15)));

// All of them anew, in memory that the process has by now; in batches of 1,000 at least.
$locks = array_fill(0, $count, null);
$times = max(1, intdiv(1_000, $count));
$each = [];
while (array_sum($each) * $count * $times < 100e6 && count($each) < 99) {
    $begun = hrtime(true);
    for ($time = 0; $time < $times; ++$time) {
        for ($i = 0; $i < $count; ++$i) {
            $locks[$i] = $factory->createLock("resource-$i");
            $locks[$i]->acquire();
        }
        for ($i = 0; $i < $count; ++$i) {
            $locks[$i] = null; // the destructor releases
        }
    }
    $each[] = (hrtime(true) - $begun) / $times / $count;
}

echo json_encode([
    'heap' => $heap,
    'resident' => $grown,
    'ns' => $oneMore,
    'each_ns' => Stats::median($each),
], JSON_THROW_ON_ERROR);
