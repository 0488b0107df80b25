<?php

/*
 * redis.php ROUNDS DSN: what locks cost in that server, see lib/RedisCosts.php.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $rounds, $dsn] = $argv;

echo json_encode((new RedisCosts(new RedisAddress($dsn)))->measure((int) $rounds), JSON_THROW_ON_ERROR);
