<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\RedisClusterServers;
use Latch\Tests\RedisServer;
use Latch\Tests\RedisTls;

require_once __DIR__ . '/../../tests/utils/redis_cluster.inc';
require_once __DIR__ . '/../../tests/utils/redis_tls.inc';

/**
 * The measurements of `benchmark/run redis`: locks in a Redis server on this machine, or in a cluster.
 *
 * Collects the raw numbers; what they come to is RedisReport's business.
 */
final class Redis
{
    private readonly Programs $programs;

    public function __construct(private readonly int $rounds)
    {
        $this->programs = new Programs('igbinary', 'redis');
    }

    /** @return array<string, mixed> */
    public function measure(): array
    {
        $server = new RedisServer();
        $tls = new RedisTls($server);
        $cluster = new RedisClusterServers();
        [$tcp, $unix] = [$server->dsn(), "redis://$server->directory/redis.sock"];
        [$client, $other] = [Programs::quietProcessor(), Programs::otherProcessor()];
        $settings = [
            'tcp' => [$tcp, $client],
            'unix' => [$unix, $client],
            'tls' => [$tls->dsn(), $client],
            'cluster' => [$cluster->dsn(), $client],
        ];
        if ($other !== $client) {
            $settings['apart'] = [$tcp, $other];
        }

        $measured = [];
        foreach ($settings as $setting => [$dsn, $processor]) {
            Command::say("locks in Redis, $setting, $this->rounds rounds");
            foreach ([$server, ...$cluster->masters] as $used) {
                Programs::pin($used->pid(), $processor);
            }
            $measured[$setting] = $this->programs->part('redis', true, $this->rounds, $dsn);
        }

        return [
            'software' => $measured['tcp']['software'],
            'rounds' => $this->rounds,
            'settings' => $measured,
        ];
    }
}
