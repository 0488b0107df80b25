<?php

/*
 * The benchmark of the locks in Redis. benchmark/run starts this with what it needs in the
 * environment, and explains the options.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/lib/autoload.php';

$command = Command::fromOptions(rounds: 99);
$measured = (new Redis($command->rounds))->measure();

$command->publish('redis', new RedisReport(
    Machine::facts() + $measured['software'],
    $measured,
));
