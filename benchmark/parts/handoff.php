<?php

/*
 * handoff.php SUBJECT STORE COUNT FOLDER: the nanoseconds from just before a release until a waiter that
 * is blocked in acquire(true) has the lock, for each of COUNT hand-offs. The same steps as in
 * raw/handoff.c.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

use RuntimeException;

require __DIR__ . '/../lib/autoload.php';

[, $name, $store, $count, $folder] = $argv;
$subject = Subject::from($name);

// At each sign of the holder: says that it will wait, waits, says when it had the lock.
$waiter = Child::start(static function (Child $holder) use ($subject, $store, $folder): void {
    $lock = $subject->locks($store, $folder)->createLock('handoff');
    while ($holder->hear() !== null) {
        $holder->say(0);
        $lock->acquire(true);
        $heldAt = hrtime(true);
        $lock->release();
        $holder->say($heldAt);
    }
});

$lock = $subject->locks($store, $folder)->createLock('handoff');
$latencies = [];
while (count($latencies) < (int) $count) {
    $lock->acquire(true);
    $waiter->say(0);
    $waiter->expect();
    usleep(random_int(1_000, 5_000));

    $releasedAt = hrtime(true);
    $lock->release();
    $heldAt = $waiter->expect();
    if ($heldAt < $releasedAt) {
        throw new RuntimeException('The waiter did not wait for the release.');
    }
    $latencies[] = $heldAt - $releasedAt;
}
$waiter->join();

echo json_encode($latencies, JSON_THROW_ON_ERROR);
