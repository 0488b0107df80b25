<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\MySqlServer;
use Latch\Tests\PostgreSqlServer;

require_once __DIR__ . '/../../tests/utils/postgresql.inc';
require_once __DIR__ . '/../../tests/utils/mysql.inc';

/**
 * The measurements of `benchmark/run sql`: advisory locks in database servers on this machine.
 *
 * Collects the raw numbers; what they come to is SqlReport's business.
 */
final class Sql
{
    private const STORES = ['postgresql', 'mysql'];
    private const QUEUE_ROUNDS = 5;

    private readonly Programs $programs;

    public function __construct(private readonly int $rounds, private readonly string $folder)
    {
        $this->programs = new Programs('posix', 'mysqlnd', 'pdo', 'pdo_pgsql', 'pdo_mysql');
    }

    /** @return array<string, mixed> */
    public function measure(): array
    {
        $measured = ['rounds' => $this->rounds, 'software' => []];
        foreach (self::STORES as $store) {
            foreach ($this->settings() as $setting => $processor) {
                Command::say("$store, $setting, $this->rounds rounds");
                $some = $this->costs($store, $setting, $processor);
                $measured['software'] += $some['software'];
                $measured['costs'][$store][$setting] = $some['costs_ns'];
                $measured['requests'][$store] = $some['requests'];
            }
            $measured['stores'][$store] = $this->queues($store);
        }

        return $measured;
    }

    /** @return array<string, int> the processors that a server is pinned to */
    private function settings(): array
    {
        $settings = ['near' => Programs::quietProcessor(), 'apart' => Programs::otherProcessor()];

        return array_unique($settings);
    }

    /** @return array<string, mixed> */
    private function costs(string $store, string $setting, int $processor): array
    {
        [$server, $address] = self::start($store);
        Programs::pin($server->pid(), $processor);
        $relay = "$this->folder/$store-$setting";

        return $this->programs->part('sql', true, $this->rounds, $address->dsn, $relay);
    }

    /** @return array<string, array<int, array<string, mixed>>> */
    private function queues(string $store): array
    {
        [$server, $address] = self::start($store);
        $queues = new Queues(
            min($this->rounds, self::QUEUE_ROUNDS),
            fn (string $name, string $store, string|int ...$arguments): array
                => $this->programs->part($name, false, $store, $address->dsn, ...$arguments),
        );
        $handOffs = $queues->handOff($store);
        $handOffs[1]['c'] = $this->programs->raw($store, 'handoff', Queues::HANDOFFS[1], ...$address->parts());
        $contention = $queues->contention($store);
        $server->stop();

        return ['handoff_ns' => $handOffs, 'contention' => $contention];
    }

    /** @return array{PostgreSqlServer|MySqlServer, SqlAddress} */
    private static function start(string $store): array
    {
        $server = $store === 'postgresql' ? new PostgreSqlServer() : new MySqlServer();
        $where = $store === 'postgresql'
            ? "pgsql:host=$server->directory;port=$server->port"
            : "mysql:unix_socket={$server->socket()}";

        return [$server, new SqlAddress("$where;dbname=latch;user=admin")];
    }
}
