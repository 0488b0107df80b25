<?php

/*
 * The benchmark of crashes: how long after a holder's death the next one has its lock. benchmark/run starts this
 * with what it needs in the environment, and explains the options.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/lib/autoload.php';

$command = Command::fromOptions(rounds: 30);
$suite = new Recovery($command->rounds, $command->folder, $command->others);

$command->publish('recovery', new RecoveryReport(
    Machine::facts() + $suite->software(),
    $suite->measure(),
));
