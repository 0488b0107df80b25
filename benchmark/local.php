<?php

/*
 * The benchmark of the local locks. benchmark/run starts this with what it needs in the
 * environment, and explains the options.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/lib/autoload.php';

$options = getopt('', ['check', 'rounds:', 'report:']);
$folder = (string) getenv('LATCH_FOLDER');
$target = (string) ($options['report'] ?? __DIR__ . '/report');

$report = new LocalReport(
    Machine::facts($folder),
    (new Local((int) ($options['rounds'] ?? 21), $folder))->measure(),
);

file_put_contents("$target/local.json", $report->json());
file_put_contents("$target/local.md", $report->markdown());
file_put_contents("$target/local.svg", (string) $report->picture());
echo $report->markdown(), "\n";

$missed = array_filter($report->targets(), static fn (Target $target): bool => !$target->holds);
exit(isset($options['check']) && $missed !== [] ? 1 : 0);
