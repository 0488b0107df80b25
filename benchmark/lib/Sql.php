<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\MySqlServer;
use Latch\Tests\PostgreSqlServer;

require_once __DIR__ . '/../../tests/utils/postgresql.inc';
require_once __DIR__ . '/../../tests/utils/mysql.inc';

/**
 * The measurements of `benchmark/run sql`: advisory locks in database servers on this machine, and locks in tables.
 *
 * Collects the raw numbers; what they come to is SqlReport's business.
 */
final class Sql
{
    private const STORES = ['postgresql', 'mysql'];
    /** Processes differ by some per cent, theirs and the server's, from their first moment to their last. */
    private const ROUNDS_OF_ONE = 9;
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
            foreach (Programs::settings() as $setting => $processor) {
                Command::say("$store, $setting, $this->rounds rounds");
                $measured['costs'][$store][$setting] = $this->costs($store, $processor);
            }
            [$server, $address] = self::start($store);
            Command::say("$store, requests");
            $some = $this->programs->part('sql_requests', false, $address->dsn, $this->folder);
            $measured['requests'][$store] = $some['requests'];
            $measured['software'] += $some['software'];
            $measured['stores'][$store] = $this->queues($store, $address);
            $server->stop();
        }
        $measured['tables'] = (new SqlTables($this->rounds, $this->folder))->measure();
        $measured['software'] += $measured['tables']['software'];
        foreach ($measured['tables']['queues'] as $store => $queues) {
            $measured['stores']["$store, table"] = $queues;
        }

        return $measured;
    }

    /** @return array<string, list<float>> ns, by subject and round */
    private function costs(string $store, int $processor): array
    {
        [$server, $address] = self::start($store);
        Programs::pin($server->pid(), $processor);
        $costs = [];
        for ($left = $this->rounds; $left > 0; $left -= self::ROUNDS_OF_ONE) {
            $rounds = min($left, self::ROUNDS_OF_ONE);
            $costs = array_merge_recursive($costs, $this->programs->part('sql', true, $rounds, $address->dsn));
        }

        return $costs;
    }

    /** @return array<string, array<int, array<string, mixed>>> */
    private function queues(string $store, SqlAddress $address): array
    {
        $queues = new Queues(
            min($this->rounds, self::QUEUE_ROUNDS),
            fn (string $name, string $store, string|int ...$arguments): array
                => $this->programs->part($name, false, $store, $address->dsn, ...$arguments),
        );
        $handOffs = $queues->handOff($store);
        $handOffs[1]['c'] = $this->programs->raw($store, 'handoff', Queues::HANDOFFS[1], ...$address->parts());

        return ['handoff_ns' => $handOffs, 'contention' => $queues->contention($store)];
    }

    /** @return array{PostgreSqlServer|MySqlServer, SqlAddress} */
    private static function start(string $store): array
    {
        $server = $store === 'postgresql' ? new PostgreSqlServer() : new MySqlServer();

        return [$server, SqlAddress::of($server)];
    }
}
