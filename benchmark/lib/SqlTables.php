<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\MySqlServer;
use Latch\Tests\PostgreSqlServer;

require_once __DIR__ . '/../../tests/utils/postgresql.inc';
require_once __DIR__ . '/../../tests/utils/mysql.inc';

/**
 * The part of `benchmark/run sql` that measures locks in tables of database servers, and of SQLite.
 *
 * What is committed is on a disk: the servers of the tests are told so, whose data need not survive.
 */
final class SqlTables
{
    private const SERVERS = ['postgresql', 'mysql'];
    private const POSTGRESQL_OPTIONS = [
        '-c', 'fsync=on', '-c', 'synchronous_commit=on', '-c', 'full_page_writes=on', '-c', 'autovacuum=on',
    ];
    private const MYSQL_OPTIONS = [
        '--innodb-flush-log-at-trx-commit=1', '--innodb-flush-method=O_DIRECT', '--innodb-log-file-size=96M',
        '--innodb-buffer-pool-size=128M',
    ];
    /** SQLite's, in one word and as a pragma has them. */
    private const JOURNALS = ['sqlite-wal' => 'WAL', 'sqlite-rollback' => 'DELETE'];
    /** The name of the measurements in a PostgreSQL whose commits do not await the disk, as those of the tests. */
    public const WITHOUT_DISK = 'postgresql, fsync off';
    /** As in Sql. */
    private const ROUNDS_OF_ONE = 9;
    private const QUEUE_ROUNDS = 5;
    /** How many hand-offs at least, by how many wait. */
    private const HANDOFFS = [1 => 50, 8 => 120, 32 => 160];
    public const CONTENDERS = 8;
    /** For how many seconds, by how many contend: where they queue, and where they poll. */
    private const QUEUERS_SECONDS = [self::CONTENDERS => 5, 32 => 8];
    private const POLLERS_SECONDS = [self::CONTENDERS => 5];

    private readonly Programs $programs;

    public function __construct(private readonly int $rounds, private readonly string $folder)
    {
        $this->programs = new Programs('posix', 'mysqlnd', 'pdo', 'pdo_pgsql', 'pdo_mysql', 'pdo_sqlite');
    }

    /** @return array<string, mixed> */
    public function measure(): array
    {
        $measured = ['software' => [
            'doctrine/dbal' => Machine::package('doctrine/dbal'),
            'data of tables in' => sys_get_temp_dir() . ', file system ' . Machine::fileSystem(sys_get_temp_dir()),
        ]];
        foreach (self::SERVERS as $store) {
            foreach (Programs::settings() as $setting => $processor) {
                Command::say("$store, table, $setting, $this->rounds rounds");
                [$server, $address] = $this->start($store, $measured['software']);
                Programs::pin($server->pid(), $processor);
                $measured['costs'][$store][$setting] = $this->costs($address);
                $server->stop();
            }
            [$server, $address] = $this->start($store, $measured['software']);
            Command::say("$store, table, requests");
            $folder = "$this->folder/$store-relay";
            mkdir($folder);
            $measured['requests'][$store] = $this->programs->part('sql_table_requests', false, $address->dsn, $folder);
            $measured['queues'][$store] = $this->queues($store, $address);
            $server->stop();
        }
        $measured['queues'][self::WITHOUT_DISK] = $this->withoutDisk();
        foreach (self::JOURNALS as $store => $journal) {
            Command::say("$store, $this->rounds rounds");
            $address = new SqlAddress("sqlite:$this->folder/$store.db");
            $measured['software'] += $this->programs->part('sql_table_create', false, $address->dsn, $journal);
            $measured['costs'][$store]['near'] = $this->costs($address);
            if ($store === 'sqlite-wal') {
                $measured['queues'][$store] = $this->queues($store, $address);
            }
        }

        return $measured;
    }

    /**
     * @param array<string, string> $software to which what the server says is added
     *
     * @return array{PostgreSqlServer|MySqlServer, SqlAddress}
     */
    private function start(string $store, array &$software): array
    {
        $server = $store === 'postgresql'
            ? new PostgreSqlServer(self::POSTGRESQL_OPTIONS)
            : new MySqlServer(self::MYSQL_OPTIONS);
        $address = SqlAddress::of($server);
        $software += $this->programs->part('sql_table_create', false, $address->dsn, '');

        return [$server, $address];
    }

    /** @return array<string, list<float>> ns, by subject and round */
    private function costs(SqlAddress $address): array
    {
        $costs = [];
        for ($left = $this->rounds; $left > 0; $left -= self::ROUNDS_OF_ONE) {
            $rounds = min($left, self::ROUNDS_OF_ONE);
            $costs = array_merge_recursive($costs, $this->programs->part('sql_table', true, $rounds, $address->dsn));
        }

        return $costs;
    }

    /** @return array<string, array<int, array<string, mixed>>> */
    private function queues(string $store, SqlAddress $address): array
    {
        $queues = $this->queuesOf(
            $address,
            // Symfony's processes end with MariaDB's error 1213, a deadlock of theirs.
            $store === 'mysql' ? [Subject::Latch] : Subject::ALIKE,
        );

        return [
            'handoff_ns' => $store === 'postgresql' ? $this->handOffs($queues, $store, $address) : [],
            'contention' => $queues->contention(
                "$store, table",
                secondsOf: $store === 'postgresql' ? self::QUEUERS_SECONDS : self::POLLERS_SECONDS,
            ),
        ];
    }

    /** @return array<string, array<int, array<string, mixed>>> */
    private function withoutDisk(): array
    {
        $server = new PostgreSqlServer();
        $address = SqlAddress::of($server);
        $this->programs->part('sql_table_create', false, $address->dsn, '');
        $handOffs = $this->handOffs($this->queuesOf($address, Subject::ALIKE), self::WITHOUT_DISK, $address);
        $server->stop();

        return ['handoff_ns' => $handOffs, 'contention' => []];
    }

    /** @param list<Subject> $subjects */
    private function queuesOf(SqlAddress $address, array $subjects): Queues
    {
        return new Queues(
            min($this->rounds, self::QUEUE_ROUNDS),
            function (string $name, string $what, string|int ...$arguments) use ($address): array {
                return $this->programs->part($name, false, 'table', $address->dsn, ...$arguments);
            },
            $subjects,
        );
    }

    /** @return array<int, array<string, list<float>>> ns, by number of waiters and subject */
    private function handOffs(Queues $queues, string $store, SqlAddress $address): array
    {
        $handOffs = $queues->handOff("$store, table", self::HANDOFFS);
        $handOffs[1]['c'] = $this->programs->raw('table_handoff', self::HANDOFFS[1], ...$address->parts());

        return $handOffs;
    }
}
