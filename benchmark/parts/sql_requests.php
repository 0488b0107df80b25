<?php

/*
 * sql_requests.php DSN FOLDER: what is sent to that server for a lock, by way of a socket in that folder, and
 * which software it is.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $dsn, $folder] = $argv;
$costs = new SqlCosts(new SqlAddress($dsn));

// First what begins processes, which must not find connections open.
echo json_encode(
    ['requests' => $costs->requests($folder), 'software' => $costs->software()],
    JSON_THROW_ON_ERROR,
);
