<?php

/*
 * load.php RUNS: the nanoseconds that `php -r ''` takes without and with the extension, run by run.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $runs] = $argv;

$without = [PHP_BINARY, '-n', '-r', ''];
$with = [PHP_BINARY, '-n', '-d', 'extension=' . getenv('LATCH_SO'), '-r', ''];
$time = static function (array $command): int {
    $begun = hrtime(true);
    proc_close(proc_open($command, [], $pipes));

    return hrtime(true) - $begun;
};

$times = ['without' => [], 'with' => []];
for ($i = 0; $i < (int) $runs; ++$i) {
    $times['without'][] = $time($without);
    $times['with'][] = $time($with);
}

echo json_encode($times, JSON_THROW_ON_ERROR);
