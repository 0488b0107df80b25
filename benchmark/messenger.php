<?php

/*
 * The benchmark of the bundle for Symfony: what a message costs. benchmark/run starts this with what it needs in the
 * environment, and explains the options.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/lib/autoload.php';

$command = Command::fromOptions(rounds: 99);
$measured = (new Messenger($command->rounds, $command->folder))->measure();

$command->publish('messenger', new MessengerReport(
    Machine::facts() + $measured['software'],
    $measured,
));
