<?php

/*
 * sql_table.php ROUNDS DSN: what locks in a table of that database cost, see lib/SqlTableCosts.php.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $rounds, $dsn] = $argv;

echo json_encode((new SqlTableCosts(new SqlAddress($dsn)))->measure((int) $rounds), JSON_THROW_ON_ERROR);
