<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Illuminate\Redis\Connections\PhpRedisClusterConnection;
use Latch\Exception\ExceptionInterface as LockException;

/**
 * A lock that is a key of a Redis server, by Latch, for connections on phpredis.
 */
final class PhpRedisLock extends \Illuminate\Cache\PhpRedisLock
{
    use LockBody;

    private function pack(string $owner): string
    {
        return $this->redis->pack([$owner])[0];
    }

    private function clientException(LockException $e): \Throwable
    {
        return $this->redis instanceof PhpRedisClusterConnection
            ? new \RedisClusterException($e->getMessage(), 0, $e)
            : new \RedisException($e->getMessage(), 0, $e);
    }
}
