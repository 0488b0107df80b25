<?php

/*
 * The benchmark of locks that are kept alive. benchmark/run starts this with what it needs in the environment,
 * and explains the options.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/lib/autoload.php';

$command = Command::fromOptions(rounds: 3);
$measured = (new KeepAlive($command->rounds))->measure();

$command->publish('keepalive', new KeepAliveReport(
    Machine::facts() + $measured['software'],
    $measured,
));
