<?php

/*
 * The benchmark of advisory locks in PostgreSQL and MariaDB. benchmark/run starts this with what it needs
 * in the environment, and explains the options.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/lib/autoload.php';

$command = Command::fromOptions(rounds: 99);
$measured = (new Sql($command->rounds, $command->folder))->measure();

$command->publish('sql', new SqlReport(
    Machine::facts() + $measured['software'],
    $measured,
));
