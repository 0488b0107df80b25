<?php

/*
 * The benchmark of locks in a quorum of Redis servers. benchmark/run starts this with what it needs in the
 * environment, and explains the options.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/lib/autoload.php';

$command = Command::fromOptions(rounds: 99);
$measured = (new Quorum($command->rounds))->measure();

$command->publish('quorum', new QuorumReport(
    Machine::facts() + $measured['software'],
    $measured,
));
