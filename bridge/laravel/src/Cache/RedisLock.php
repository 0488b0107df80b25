<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Latch\Exception\ExceptionInterface as LockException;
use Predis\Client;
use Predis\ClientException;
use Predis\Connection\ConnectionException;
use Predis\Connection\NodeConnectionInterface;

/**
 * A lock that is a key of a Redis server, by Latch, for connections on Predis.
 */
final class RedisLock extends \Illuminate\Cache\RedisLock
{
    use LockBody;

    private function pack(string $owner): string
    {
        return $owner;
    }

    private function clientException(LockException $e): \Throwable
    {
        $client = $this->redis->client();
        if (!$client instanceof Client) {
            return $e;
        }
        $connection = $client->getConnection();

        return $connection instanceof NodeConnectionInterface
            ? new ConnectionException($connection, $e->getMessage(), 0, $e)
            : new ClientException($e->getMessage(), 0, $e);
    }
}
