<?php

/*
 * The benchmark of the package for Laravel: cache locks with it and without. benchmark/run starts this with what it needs in
 * the environment, and explains the options.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/lib/autoload.php';

$command = Command::fromOptions(rounds: 99);
$measured = (new Laravel($command->rounds))->measure();

$command->publish('laravel', new LaravelReport(
    Machine::facts() + $measured['software'],
    $measured,
));
