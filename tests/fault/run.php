<?php

/*
 * A run: workers that contend under faults, and the check of what they recorded. tests/fault/run starts this
 * with what it needs in the environment, and explains the options.
 */

declare(strict_types=1);

namespace Latch\Tests\Fault;

use Latch\Tests\Fault\Check\Calls\CallFindings;
use Latch\Tests\Fault\Check\Findings;
use Latch\Tests\Fault\Record\CallHistory;
use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Run\CallReport;
use Latch\Tests\Fault\Run\Folder;
use Latch\Tests\Fault\Run\Options;
use Latch\Tests\Fault\Run\Report;
use Latch\Tests\Fault\Run\ReportFile;
use Latch\Tests\Fault\Run\Run;

require __DIR__ . '/autoload.php';

try {
    $options = Options::of(\array_slice($argv, 1));
} catch (\InvalidArgumentException $e) {
    fwrite(STDERR, "tests/fault/run: {$e->getMessage()}; see tests/fault/run --help\n");
    exit(64);
}

$folder = new Folder($options->keep);
echo "seed $options->seed\n";
$run = new Run($options, $folder->path);
$complete = $run->play();
$started = hrtime(true);
if ($options->primitive?->isCalled() === true) {
    $history = new CallHistory($folder->path);
    $findings = new CallFindings($history);
    $report = (new CallReport($history, $findings))->text();
} else {
    $history = new History($folder->path);
    $findings = new Findings($history);
    $report = (new Report($history, $findings))->text();
}
$seconds = (hrtime(true) - $started) / 1e9;
echo "\n", $report;
if ($options->primitive !== null) {
    printf("\n%d operations in %.0f s.\n", $run->operations(), $run->seconds);
}
printf("\nChecked in %.1f s with %d MB. Seed %d.\n", $seconds, memory_get_peak_usage() >> 20, $options->seed);
foreach ($run->redirections() as $answer => $count) {
    echo "Answered $answer: $count\n";
}
if ($run->errors !== '') {
    echo "\nUnexpected output of workers:\n$run->errors";
}
if (!$complete) {
    echo "\nToo few acquisitions in $options->limit s, or too few changes of a master, moves or redirections.\n";
}
if ($options->report !== null) {
    file_put_contents($options->report, (new ReportFile($options, $run))->text($report, $findings, $complete));
}
exit($findings->count() === 0 && $complete && $run->errors === '' ? 0 : 1);
