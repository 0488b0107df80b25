<?php

/*
 * sql_table_create.php DSN JOURNAL: makes the table of locks, with that journal in SQLite, and says in which software.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $dsn, $journal] = $argv;

echo json_encode((new SqlTableCosts(new SqlAddress($dsn)))->create($journal), JSON_THROW_ON_ERROR);
