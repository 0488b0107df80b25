<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What the numbers of Sql come to.
 */
final class SqlReport extends Report
{
    use QueueTables;
    use SqlTableTables;

    private const SERVERS = ['postgresql' => 'PostgreSQL', 'mysql' => 'MariaDB'];
    private const SETTINGS = ['near' => 'one processor', 'apart' => 'server on another processor'];
    private const LONG_NAMES = [
        'latch' => 'Latch',
        'latch-pdo' => 'Latch, over PDO',
        'symfony' => 'Symfony Lock, over PDO',
        'c' => 'client library, in C',
    ];

    protected function title(): string
    {
        return 'Locks in PostgreSQL, MariaDB and SQLite';
    }

    protected function numbers(): array
    {
        $numbers = ['rounds' => $this->measured['rounds'], 'requests' => $this->measured['requests']];
        foreach ($this->measured['costs'] as $store => $settings) {
            $numbers['costs_ns'][$store] = array_map(self::summaries(...), $settings);
        }
        foreach ($this->measured['stores'] as $store => $part) {
            $part['handoff_ns'] = array_map(self::summaries(...), $part['handoff_ns']);
            $numbers['stores'][$store] = $part;
        }
        $numbers['tables'] = $this->numbersOfTables();

        return $numbers;
    }

    protected function tables(): array
    {
        $rounds = $this->measured['rounds'];

        return [
            "Advisory locks, acquire and release without contention: ns, median of $rounds rounds"
                => self::costTable($this->costs(), ['latch', 'latch-pdo', 'symfony', 'c']),
            'What is sent for each advisory lock' => $this->requestTable($this->measured['requests']),
            ...$this->tablesOfTables(),
            'From a release to the next holder, until nobody waits any more: microseconds'
                => $this->handOffTable(),
            'Endless contention, holds of 1 ms' => $this->contentionTable(false),
        ];
    }

    public function targets(): array
    {
        $ratio = fn (string $store, string $subject, string $other): float
            => self::ratio($this->measured['costs'][$store]['near'], $subject, $other);
        $targets = [
            Target::atMost(
                'PostgreSQL: of prepared statements by libpq',
                1.15,
                'x',
                $ratio('postgresql', 'latch', 'c'),
            ),
            Target::atLeast(
                'PostgreSQL: faster than Symfony over PDO',
                10,
                'x',
                $ratio('postgresql', 'symfony', 'latch'),
            ),
            Target::atMost('MariaDB: of statements by libmariadb', 1.15, 'x', $ratio('mysql', 'latch', 'c')),
        ];
        foreach (self::SERVERS as $store => $server) {
            foreach ($this->measured['stores'][$store]['handoff_ns'] as $waiters => $subjects) {
                $targets[] = Target::atMost(
                    "$server: hand-off, $waiters waiting, median",
                    0.5,
                    'ms',
                    Stats::median($subjects['latch']) / 1e6,
                );
            }
        }

        return [...$targets, ...$this->targetsOfTables()];
    }

    public function picture(): Picture
    {
        return $this->bars(
            'What an advisory lock costs that nobody else wants',
            $this->costs(),
            self::LONG_NAMES,
        );
    }

    /** @return array<string, array<string, list<float>>> ns, by row, subject and round */
    private function costs(): array
    {
        $rows = [];
        foreach ($this->measured['costs'] as $store => $settings) {
            foreach ($settings as $setting => $costs) {
                $rows[self::SERVERS[$store] . ', ' . self::SETTINGS[$setting]] = $costs;
            }
        }

        return $rows;
    }

    /** @param array<string, array<string, array{requests: float, bytes: float}>> $requests by server and subject */
    private function requestTable(array $requests): Table
    {
        $table = new Table('', 'requests', 'bytes');
        foreach ($requests as $store => $subjects) {
            foreach ($subjects as $subject => $sent) {
                $table->add(
                    self::SERVERS[$store] . ', ' . self::NAMES[$subject],
                    self::number($sent['requests'], 2),
                    self::number($sent['bytes']),
                );
            }
        }

        return $table;
    }
}
