<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Redis as PhpRedis;
use RedisCluster as PhpRedisCluster;
use RuntimeException;

/**
 * Where a server is, on a port of this machine or at a socket, or where the masters of a cluster are.
 */
final class RedisAddress
{
    /** @var array<string, mixed> options of the DSN */
    private readonly array $options;

    /**
     * @param string $dsn as Latch takes it: redis://host:port, redis:///path/of/socket,
     *                    rediss://host:port?ssl[cafile]=/path/of/ca, or
     *                    redis:?host[host:port]&host[host:port]&redis_cluster=1
     */
    public function __construct(public readonly string $dsn)
    {
        parse_str(explode('?', "$dsn?")[1], $options);
        $this->options = $options;
    }

    public function isCluster(): bool
    {
        return isset($this->options['redis_cluster']);
    }

    /** @return list<self> the masters of a cluster; else itself */
    public function servers(): array
    {
        return $this->isCluster()
            ? array_map(static fn (string $master): self => new self("redis://$master"), $this->masters())
            : [$this];
    }

    /** @return list<string> a path, or host and port, and with TLS the file of the CA */
    public function parts(): array
    {
        $address = $this->first();
        $tls = isset($this->options['ssl']) ? [$this->options['ssl']['cafile']] : [];

        return $address[0] === '/' ? [$address] : [...explode(':', $address), ...$tls];
    }

    /**
     * A connection by phpredis, to a server.
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

    /** What a program has that uses phpredis: such a connection, or an object for the cluster. */
    public function client(): PhpRedis|PhpRedisCluster
    {
        return $this->isCluster() ? new PhpRedisCluster(null, $this->masters()) : $this->connect();
    }

    /** The path, or host:port, that the DSN begins with; of a cluster that of its first master. */
    private function first(): string
    {
        return $this->isCluster() ? $this->masters()[0] : explode('://', explode('?', $this->dsn)[0])[1];
    }

    /** @return list<string> */
    private function masters(): array
    {
        return array_keys($this->options['host']);
    }
}
