<?php

/*
 * The benchmark of waiting: how a lock gets from one process to the next. benchmark/run starts this with
 * what it needs in the environment, and explains the options.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/lib/autoload.php';

$command = Command::fromOptions(rounds: 5);
$suite = new HandOff($command->rounds, $command->folder, $command->others);

$command->publish('handoff', new HandOffReport(
    Machine::facts() + $suite->software(),
    $suite->measure(),
));
