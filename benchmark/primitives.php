<?php

/*
 * The benchmark of what Latch has beside the lock: semaphores, count-downs. benchmark/run starts this with what it needs
 * in the environment, and explains the options.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/lib/autoload.php';

$command = Command::fromOptions(rounds: 99);
$measured = (new Primitives($command->rounds))->measure();

$command->publish('primitives', new PrimitivesReport(
    Machine::facts() + $measured['software'],
    $measured,
));
