<?php

/*
 * laravel.php DIRECTORY ROUNDS DSN: what the cache locks of the application in DIRECTORY cost, see lib/LaravelCosts.php. DSN: of
 * the Redis server that has the locks, or empty.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $directory, $rounds, $dsn] = $argv;

echo json_encode((new LaravelCosts($directory, $dsn))->measure((int) $rounds), JSON_THROW_ON_ERROR);
