<?php

/*
 * laravel_memory.php DIRECTORY SUBJECT LOCKS: by how many bytes the memory of a process grows that gets and releases so many
 * locks of different names, and what they leave behind: keys, rows, items or files.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

const WARM = 200;

[, $directory, $subject, $locks] = $argv;
$application = new LaravelApplication($directory, $subject);
$store = $application->store;
$resident = static fn (): int => 1024 * (int) Programs::statusLine('VmRSS');

[$leftBefore, $heap, $process] = [$application->left(), 0, 0];
for ($i = -WARM; $i < (int) $locks; ++$i) {
    if ($i === 0) {
        [$heap, $process] = [memory_get_usage(), $resident()];
    }
    $lock = $store->lock("memory-$i", 30);
    $lock->get();
    $lock->release();
}
$lock = null;
[$heap, $process] = [memory_get_usage() - $heap, $resident() - $process];

echo json_encode([
    'heap' => $heap,
    'resident' => $process,
    'left' => $application->left() - $leftBefore,
    'queue_files' => $application->queueFiles(),
], JSON_THROW_ON_ERROR);
