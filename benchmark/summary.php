<?php

/*
 * The benchmark of the README's table: Latch beside Symfony and Laravel. benchmark/run starts this with what it needs in
 * the environment, and explains the options.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/lib/autoload.php';

$command = Command::fromOptions(rounds: 5);
$suite = new Summary($command->rounds, $command->folder);

$command->publish('summary', new SummaryReport(
    Machine::facts() + $suite->software(),
    $suite->measure(),
));
