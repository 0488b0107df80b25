<?php

/*
 * The benchmark of the local locks. benchmark/run starts this with what it needs in the
 * environment, and explains the options.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/lib/autoload.php';

$command = Command::fromOptions(rounds: 21);
$facts = Machine::facts() + ['file system' => Machine::fileSystem($command->folder)];

$command->publish('local', new LocalReport(
    $facts,
    (new Local($command->rounds, $command->folder))->measure(),
));
