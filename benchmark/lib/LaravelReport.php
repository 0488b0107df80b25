<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What the numbers of Laravel come to.
 */
final class LaravelReport extends Report
{
    private const LONG_NAMES = ['laravel' => 'Laravel', 'package' => 'with latch/laravel', 'latch' => 'Latch alone'];
    private const SETTINGS = ['near' => '', 'apart' => ', server on another processor'];
    private const DRIVERS = [
        'file' => 'file',
        'sqlite' => 'database, SQLite',
        'mariadb' => 'database, MariaDB',
        'pgsql' => 'database, PostgreSQL',
        'memcached' => 'memcached',
        'redis' => 'redis, phpredis',
        'redis-predis' => 'redis, Predis',
    ];

    protected function title(): string
    {
        return 'Cache locks of Laravel, with the package and without';
    }

    protected function numbers(): array
    {
        $numbers = ['rounds' => $this->measured['rounds']];
        foreach ($this->measured['drivers'] as $driver => $measured) {
            foreach ($measured['costs'] as $setting => $costs) {
                $measured['costs'][$setting]['costs_ns'] = self::summaries($costs['costs_ns']);
            }
            $measured['handoff_ns'] = array_map(self::summaries(...), $measured['handoff_ns']);
            $numbers['drivers'][$driver] = $measured;
        }

        return $numbers;
    }

    protected function tables(): array
    {
        $rounds = $this->measured['rounds'];

        return [
            'From a release to the next holder: milliseconds' => $this->handOverTable(),
            "Get and release, uncontended: microseconds, median of $rounds rounds" => $this->pairTable(),
            'Processor time of a get and release: microseconds' => $this->processorTable(),
            'After ' . self::number(Laravel::MEMORY_LOCKS) . ' locks of different names' => $this->memoryTable(),
        ];
    }

    public function targets(): array
    {
        $targets = [];
        foreach ($this->measured['drivers'] as $driver => $measured) {
            array_push($targets, ...$this->targetsOf(self::DRIVERS[$driver], $measured));
        }

        return $targets;
    }

    public function picture(): Picture
    {
        $picture = new Picture(
            'A released cache lock reaches a process that waits for it',
            'microseconds with one waiting, median, shorter is better; ' . $this->machine['processor'],
            true,
        );
        foreach ($this->measured['drivers'] as $driver => $measured) {
            $bars = [];
            foreach (array_reverse(Laravel::SUBJECTS) as $subject) {
                $bars[self::LONG_NAMES[$subject]] = round(Stats::median($measured['handoff_ns'][1][$subject]) / 1e3);
            }
            $picture->add(self::DRIVERS[$driver], $bars);
        }

        return $picture;
    }

    /**
     * @param array<string, mixed> $measured
     *
     * @return list<Target>
     */
    private function targetsOf(string $driver, array $measured): array
    {
        $targets = [];
        foreach ($measured['handoff_ns'] as $waiters => $subjects) {
            $targets[] = Target::atMost(
                "$driver: hand-over, $waiters waiting, median",
                $measured['is_redis'] ? 2 : 10,
                'ms',
                Stats::median($subjects['package']) / 1e6,
            );
        }
        if ($measured['is_redis']) {
            $number = count($measured['handoff_ns'][8]['package']);
            $targets[] = Target::atLeast("$driver: 8 waiting, in the order in which they came", $number, "of $number",
                $measured['in_order'][8]['package']);
        }
        foreach ($measured['costs'] as $setting => ['costs_ns' => $costs]) {
            $where = self::SETTINGS[$setting];
            $ofLaravel = static fn (string $subject): float => self::ratio($costs, $subject, 'laravel');
            $targets[] = Target::atMost("$driver$where: get and release, of Laravel", 1.2, 'x', $ofLaravel('package'));
            if ($measured['is_redis']) {
                $targets[] = Target::atMost("$driver$where: Latch alone, of Laravel", 1.1, 'x', $ofLaravel('latch'));
            }
        }
        if ($measured['is_redis']) {
            ['package' => $package, 'laravel' => $laravel] = $measured['costs']['near']['server_us'];
            $targets[] = Target::atMost("$driver: time of the server, of Laravel", 3, 'x', $package / $laravel);
        }
        $targets[] = Target::atMost("$driver: memory, of " . self::number(Laravel::MEMORY_LOCKS) . ' locks', 64, 'kB',
            $measured['memory']['package']['heap'] / 1e3);

        return $targets;
    }

    private function handOverTable(): Table
    {
        $table = new Table('', 'median', '99 of 100', 'max', 'in order', 'number');
        foreach ($this->measured['drivers'] as $driver => $measured) {
            foreach ($measured['handoff_ns'] as $waiters => $subjects) {
                foreach ($subjects as $subject => $latencies) {
                    ['median' => $median, 'p99' => $p99, 'max' => $max] = Stats::summary($latencies);
                    $table->add(self::DRIVERS[$driver] . ", $waiters waiting, " . self::LONG_NAMES[$subject], ...[
                        ...array_map(static fn (float $ns): string => self::number($ns / 1e6, 2), [$median, $p99, $max]),
                        $waiters > 1 ? self::number($measured['in_order'][$waiters][$subject]) : '',
                        self::number(count($latencies)),
                    ]);
                }
            }
        }

        return $table;
    }

    private function pairTable(): Table
    {
        $table = new Table('', ...[...array_values(self::LONG_NAMES), 'with the package : Laravel', 'Latch alone : Laravel']);
        foreach ($this->measured['drivers'] as $driver => $measured) {
            foreach ($measured['costs'] as $setting => ['costs_ns' => $costs]) {
                $table->add(self::DRIVERS[$driver] . self::SETTINGS[$setting], ...[
                    ...$this->cells(
                        static fn (string $subject): ?float => isset($costs[$subject]) ? Stats::median($costs[$subject]) / 1e3 : null,
                    ),
                    self::number(self::ratio($costs, 'package', 'laravel'), 2),
                    isset($costs['latch']) ? self::number(self::ratio($costs, 'latch', 'laravel'), 2) : '',
                ]);
            }
        }

        return $table;
    }

    private function processorTable(): Table
    {
        $table = new Table('', ...array_values(self::LONG_NAMES));
        foreach ($this->measured['drivers'] as $driver => ['is_redis' => $isRedis, 'costs' => ['near' => $costs]]) {
            foreach (['user', 'system'] as $mode) {
                $table->add(self::DRIVERS[$driver] . ", $mode", ...$this->cells(
                    static fn (string $subject): ?float => $costs['processor_us'][$subject][$mode] ?? null,
                ));
            }
            if ($isRedis) {
                $table->add(self::DRIVERS[$driver] . ', the server', ...$this->cells(
                    static fn (string $subject): ?float => $costs['server_us'][$subject],
                ));
            }
        }

        return $table;
    }

    private function memoryTable(): Table
    {
        $table = new Table('', 'heap grows by, kB', 'process grows by, kB', 'keys, rows, items, files left', 'files of queues');
        foreach ($this->measured['drivers'] as $driver => ['memory' => $memory]) {
            foreach ($memory as $subject => $grown) {
                $table->add(
                    self::DRIVERS[$driver] . ', ' . self::LONG_NAMES[$subject],
                    self::number($grown['heap'] / 1e3, 1),
                    self::number($grown['resident'] / 1e3),
                    self::number($grown['left']),
                    self::number($grown['queue_files']),
                );
            }
        }

        return $table;
    }

    /**
     * @param callable(string): (float|null) $value of a subject
     *
     * @return list<string>
     */
    private function cells(callable $value): array
    {
        return array_map(static function (string $subject) use ($value): string {
            $microseconds = $value($subject);

            return $microseconds === null ? '' : self::number($microseconds, 1);
        }, array_keys(self::LONG_NAMES));
    }
}
