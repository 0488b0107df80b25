<?php

/*
 * permits.php ROUNDS DSN: what permits of semaphores cost in that server, see lib/PermitCosts.php.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $rounds, $dsn] = $argv;

echo json_encode((new PermitCosts(new RedisAddress($dsn)))->measure((int) $rounds), JSON_THROW_ON_ERROR);
