<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Redis as PhpRedis;
use RuntimeException;

/**
 * Where a server is: on a port of this machine or at a socket.
 */
final class RedisAddress
{
    /** @param string $dsn as Latch takes it, redis://host:port or redis:///path/of/socket */
    public function __construct(public readonly string $dsn)
    {
    }

    /** @return list<string> a path, or host and port */
    public function parts(): array
    {
        $address = substr($this->dsn, strlen('redis://'));

        return $address[0] === '/' ? [$address] : explode(':', $address);
    }

    /**
     * A connection by phpredis.
     *
     * @param float|null $timeout seconds, to connect and for each answer; null: as long as phpredis waits
     */
    public function connect(?float $timeout = null): PhpRedis
    {
        [$host, $port] = $this->parts() + [1 => '0'];
        $redis = new PhpRedis();
        $redis->connect($host, (int) $port, $timeout ?? 0.0)
            || throw new RuntimeException("No connection to $this->dsn.");
        if ($timeout !== null) {
            $redis->setOption(PhpRedis::OPT_READ_TIMEOUT, $timeout);
        }

        return $redis;
    }
}
