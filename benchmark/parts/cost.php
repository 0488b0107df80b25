<?php

/*
 * cost.php ROUNDS FOLDER: what acquire and release cost without contention, see lib/Costs.php.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $rounds, $folder] = $argv;

echo json_encode((new Costs(new Programs(), $folder))->measure((int) $rounds), JSON_THROW_ON_ERROR);
