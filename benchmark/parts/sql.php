<?php

/*
 * sql.php ROUNDS DSN: what locks cost in that server, see lib/SqlCosts.php.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $rounds, $dsn] = $argv;

echo json_encode((new SqlCosts(new SqlAddress($dsn)))->measure((int) $rounds), JSON_THROW_ON_ERROR);
