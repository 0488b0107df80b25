<?php

/*
 * sql_table_requests.php DSN FOLDER: what is sent to that server for a lock in a table, by way of a socket in that
 * folder.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $dsn, $folder] = $argv;

echo json_encode((new SqlTableCosts(new SqlAddress($dsn)))->requests($folder), JSON_THROW_ON_ERROR);
