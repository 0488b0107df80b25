<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\RedisServer;

require_once __DIR__ . '/../../tests/utils/redis.inc';

/**
 * The measurements of `benchmark/run summary`: what the README shows, beside Symfony and Laravel.
 *
 * Collects the raw numbers; what they come to is SummaryReport's business.
 */
final class Summary
{
    /** How many hand-offs at least in all rounds, by how many wait. */
    private const HANDOFFS = [1 => 50, 8 => 160];
    /** For how many seconds how many contend. */
    private const SATURATED_SECONDS = [32 => 8];
    /** What Laravel sleeps between two polls, which is longer than Symfony does. */
    private const PHASES_US = 250_000;

    private readonly Programs $programs;
    private readonly Queues $queues;

    public function __construct(private readonly int $rounds, private readonly string $folder)
    {
        $this->programs = new Programs('igbinary', 'redis');
        $this->queues = new Queues($rounds, $this->part(...), Subject::cases(), self::PHASES_US);
    }

    /** @return array<string, string> what is used besides, and its version */
    public function software(): array
    {
        return [
            'laravel/framework' => (require getenv('LATCH_LARAVEL') . '/composer/installed.php')
                ['versions']['laravel/framework']['pretty_version'],
            'redis-server' => (new RedisServer())->info('server')['redis_version'],
            'phpredis' => $this->programs->version('redis'),
            'file system' => Machine::fileSystem($this->folder),
        ];
    }

    /** @return array<string, mixed> */
    public function measure(): array
    {
        $costs = [];
        foreach (['redis', 'flock'] as $store) {
            Command::say("$store, without contention");
            $server = $store === 'redis' ? new RedisServer() : null;
            if ($server !== null) {
                Programs::pin($server->pid(), Programs::quietProcessor());
            }
            $costs[$store] = $this->programs->part('summary', true, $store, $server?->dsn() ?? $this->folder);
        }

        return [
            'rounds' => $this->rounds,
            'costs_ns' => $costs,
            'handoff_ns' => $this->queues->handOff('redis', self::HANDOFFS),
            'contention' => $this->queues->contention('redis', secondsOf: self::SATURATED_SECONDS),
        ];
    }

    private function part(string $name, string $store, string|int ...$arguments): array
    {
        $server = new RedisServer();

        return $this->programs->part($name, false, $store, $server->dsn(), ...$arguments);
    }
}
