<?php

/*
 * sql.php ROUNDS DSN FOLDER: what locks cost in that server, see lib/SqlCosts.php. FOLDER is made, for sockets.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $rounds, $dsn, $folder] = $argv;

echo json_encode((new SqlCosts(new SqlAddress($dsn)))->measure((int) $rounds, $folder), JSON_THROW_ON_ERROR);
