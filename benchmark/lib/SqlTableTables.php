<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What a report says of locks in tables, as SqlTables has measured them.
 */
trait SqlTableTables
{
    private const DATABASES = [
        'postgresql' => 'PostgreSQL',
        'mysql' => 'MariaDB',
        'sqlite-wal' => 'SQLite, WAL',
        'sqlite-rollback' => 'SQLite, rollback journal',
    ];
    /** How much faster than Symfony's PdoStore; that of the rollback journal is no target. */
    private const FASTER = ['postgresql' => 3, 'mysql' => 1.7, 'sqlite-wal' => 1.5];

    /** @return array<string, Table> */
    private function tablesOfTables(): array
    {
        $rounds = $this->measured['rounds'];

        return [
            "Locks in a table, acquire and release without contention: ns, median of $rounds rounds"
                => self::costTable(
                    $this->costsOfTables(),
                    ['latch', 'latch-pdo', 'symfony', 'symfony-dbal', 'c', 'c-least'],
                ),
            'What is sent for each lock in a table' => $this->requestTable($this->measured['tables']['requests']),
        ];
    }

    /** @return list<Target> */
    private function targetsOfTables(): array
    {
        $targets = [];
        foreach (self::FASTER as $store => $faster) {
            $database = self::DATABASES[$store];
            $costs = $this->measured['tables']['costs'][$store]['near'];
            $targets[] = Target::atMost("$database, table: of the same statements in C", 1.15, 'x',
                self::ratio($costs, 'latch', 'c'));
            $targets[] = Target::atLeast("$database, table: faster than Symfony's PdoStore", $faster, 'x',
                self::ratio($costs, 'symfony', 'latch'));
        }
        foreach ($this->measured['tables']['requests'] as $store => ['latch' => $latch, 'c' => $c]) {
            $database = self::DATABASES[$store];
            $targets[] = Target::atMost("$database, table: requests", 2, 'a pair', $latch['requests']);
            // Otherwise the program in C has other statements than the store.
            $targets[] = Target::atMost("$database, table: bytes, beyond those of C", 0, 'bytes',
                abs($latch['bytes'] - $c['bytes']));
        }
        ['handoff_ns' => $handOff, 'contention' => $contention] = $this->measured['tables']['queues']['postgresql'];
        // Two transactions, of which one awaits the disk.
        foreach ($handOff as $waiters => ['latch' => $latencies, 'symfony' => $polled]) {
            $targets[] = Target::atMost(
                "PostgreSQL, table: hand-off, $waiters waiting, of one in C",
                1.5,
                'x',
                Stats::median($latencies) / Stats::median($handOff[1]['c']),
            );
            $targets[] = Target::atLeast(
                "PostgreSQL, table: hand-off, $waiters waiting, faster than Symfony",
                3,
                'x',
                Stats::median($polled) / Stats::median($latencies),
            );
        }
        foreach ($this->measured['tables']['queues'][SqlTables::WITHOUT_DISK]['handoff_ns'] as $waiters => $subjects) {
            $targets[] = Target::atMost(
                "PostgreSQL, table, fsync off: hand-off, $waiters waiting, median",
                1,
                'ms',
                Stats::median($subjects['latch']) / 1e6,
            );
        }
        foreach ($contention as $processes => ['latch' => ['times_held' => $timesHeld]]) {
            $targets[] = Target::atLeast(
                "PostgreSQL, table: $processes processes: smallest share, of the largest",
                85,
                '%',
                min($timesHeld) / max(1, max($timesHeld)) * 100,
            );
        }
        foreach ($this->measured['tables']['queues'] as $store => ['contention' => $contention]) {
            if ($contention === []) {
                continue;
            }
            ['seconds' => $seconds, 'times_held' => $timesHeld] = $contention[SqlTables::CONTENDERS]['latch'];
            $targets[] = Target::atMost(
                self::DATABASES[$store] . ', table: 8 processes, mean time without a holder',
                30,
                'ms',
                $seconds * 1e3 / max(1, array_sum($timesHeld)) - Queues::SATURATED_US / 1e3,
            );
            $targets[] = Target::atLeast(
                self::DATABASES[$store] . ', table: 8 processes, locks of the one with the fewest',
                1,
                'lock',
                min($timesHeld),
            );
        }

        return $targets;
    }

    /** @return array<string, array<string, list<float>>> ns, by row, subject and round */
    private function costsOfTables(): array
    {
        $rows = [];
        foreach ($this->measured['tables']['costs'] as $store => $settings) {
            foreach ($settings as $setting => $costs) {
                $where = str_starts_with($store, 'sqlite') ? '' : ', ' . self::SETTINGS[$setting];
                $rows[self::DATABASES[$store] . $where] = $costs;
            }
        }

        return $rows;
    }

    /** @return array<string, mixed> what is kept of the numbers */
    private function numbersOfTables(): array
    {
        $numbers = ['requests' => $this->measured['tables']['requests']];
        foreach ($this->measured['tables']['costs'] as $store => $settings) {
            $numbers['costs_ns'][$store] = array_map(self::summaries(...), $settings);
        }

        return $numbers;
    }
}
