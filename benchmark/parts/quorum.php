<?php

/*
 * quorum.php ROUNDS DSN DSN DSN...: what locks cost in that quorum, see lib/QuorumCosts.php.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $rounds] = $argv;
$members = array_map(static fn (string $dsn): RedisAddress => new RedisAddress($dsn), array_slice($argv, 2));

echo json_encode((new QuorumCosts(...$members))->measure((int) $rounds), JSON_THROW_ON_ERROR);
