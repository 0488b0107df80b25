<?php

/*
 * contend.php SUBJECT STORE PROCESSES SECONDS FOLDER: how often each process held the one lock that all
 * of them want all the time. The same steps as in raw/contend.c.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $name, $store, $processes, $seconds, $folder] = $argv;
$subject = Subject::from($name);
$until = hrtime(true) + (int) ((float) $seconds * 1e9);

$contend = static function (Child $parent) use ($subject, $store, $folder, $until): void {
    $lock = $subject->locks($store, $folder)->createLock('contend');
    for ($count = 0; hrtime(true) < $until; ++$count) {
        $lock->acquire(true);
        $lock->release();
    }
    $parent->say($count);
};

$children = [];
for ($i = 0; $i < (int) $processes; ++$i) {
    $children[] = Child::start($contend);
}

$counts = [];
foreach ($children as $child) {
    $counts[] = $child->expect();
    $child->join();
}

echo json_encode($counts, JSON_THROW_ON_ERROR);
