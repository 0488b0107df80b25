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
    /**
     * @param string $dsn as Latch takes it: redis://host:port, redis:///path/of/socket, or
     *                    rediss://host:port?ssl[cafile]=/path/of/ca
     */
    public function __construct(public readonly string $dsn)
    {
    }

    /** @return list<string> a path, or host and port, and with TLS the file of the CA */
    public function parts(): array
    {
        $query = (string) parse_url($this->dsn, PHP_URL_QUERY);
        parse_str($query, $options);
        $address = explode('://', explode('?', $this->dsn)[0])[1];
        $tls = isset($options['ssl']) ? [$options['ssl']['cafile']] : [];

        return $address[0] === '/' ? [$address] : [...explode(':', $address), ...$tls];
    }

    /**
     * A connection by phpredis.
     *
     * @param float|null $timeout seconds, to connect and for each answer; null: as long as phpredis waits
     */
    public function connect(?float $timeout = null): PhpRedis
    {
        [$host, $port, $cafile] = $this->parts() + [1 => '0', 2 => null];
        $redis = new PhpRedis();
        $connected = $cafile === null
            ? $redis->connect($host, (int) $port, $timeout ?? 0.0)
            : $redis->connect("tls://$host", (int) $port, $timeout ?? 0.0, null, 0, 0.0, ['stream' => ['cafile' => $cafile]]);
        $connected
            || throw new RuntimeException("No connection to $this->dsn.");
        if ($timeout !== null) {
            $redis->setOption(PhpRedis::OPT_READ_TIMEOUT, $timeout);
        }

        return $redis;
    }
}
