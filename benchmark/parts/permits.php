<?php

/*
 * permits.php ROUNDS DSN PERMITS: what permits of semaphores cost in that server, see lib/PermitCosts.php. PERMITS are numbers of
 * PermitCosts::PERMITS, separated by commas.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $rounds, $dsn, $permits] = $argv;

echo json_encode((new PermitCosts(new RedisAddress($dsn), array_map(intval(...), explode(',', $permits))))->measure((int) $rounds), JSON_THROW_ON_ERROR);
