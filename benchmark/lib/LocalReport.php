<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What the numbers of Local come to.
 */
final class LocalReport extends Report
{
    private const LONG_NAMES = [
        'latch' => 'Latch',
        'symfony' => 'Symfony Lock, PHP',
        'c' => 'the system calls in C',
    ];

    protected function title(): string
    {
        return 'Locks on one machine';
    }

    protected function numbers(): array
    {
        return [
            'rounds' => $this->measured['rounds'],
            'costs_ns' => array_map(self::summaries(...), $this->measured['costs_ns']),
            'handoff_ns' => array_map(self::summaries(...), $this->measured['handoff_ns']),
            'contention' => $this->measured['contention'],
            'signal_ns' => self::summaries($this->measured['signal_ns']),
            'load_ns' => self::summaries($this->measured['load_ns'])
                + ['added' => Stats::summary($this->addedTo('flock'))],
            'held' => $this->measured['held'],
        ];
    }

    protected function tables(): array
    {
        return [
            "Acquire and release without contention: ns, median of {$this->measured['rounds']} rounds"
                => self::costTable(
                    $this->measured['costs_ns'],
                    ['latch', 'symfony', 'c', 'c-least'],
                ),
            'Hand-off to a blocked waiter, signals: microseconds' => $this->latencyTable(),
            'A start of PHP: microseconds of processor time' => $this->loadTable(),
            'Endless contention: acquisitions of each process' => $this->contentionTable(),
            'Held locks: what each takes, and what one more costs' => $this->heldTable(),
        ];
    }

    public function targets(): array
    {
        $held = fn (int $count, string $what, string $store = 'memory'): float
            => Stats::median($this->measured['held'][$store][$count]['latch'][$what]);

        $ratio = fn (string $row, string $subject, string $other): float
            => self::ratio($this->measured['costs_ns'][$row], $subject, $other);

        return [
            Target::atMost(
                'flock: of open + flock + unlock + close in C',
                0.6,
                'x',
                $ratio('flock, same lock', 'latch', 'c'),
            ),
            Target::atLeast(
                'flock: faster than Symfony',
                3,
                'x',
                $ratio('flock, same lock', 'symfony', 'latch'),
            ),
            Target::atLeast(
                'in memory, same lock: faster than Symfony',
                5,
                'x',
                $ratio('memory, same lock', 'symfony', 'latch'),
            ),
            Target::atLeast(
                'in memory, new lock: faster than Symfony',
                5,
                'x',
                $ratio('memory, new lock', 'symfony', 'latch'),
            ),
            Target::atMost(
                'semaphore: of the same protocol in C',
                1.3,
                'x',
                $ratio('semaphore, same lock', 'latch', 'c'),
            ),
            Target::atLeast(
                'semaphore: faster than Symfony',
                1,
                'x',
                $ratio('semaphore, same lock', 'symfony', 'latch'),
            ),
            Target::atLeast(
                'shared memory: faster than Symfony by flock',
                20,
                'x',
                $ratio('shared memory, same lock; Symfony by flock', 'symfony', 'latch'),
            ),
            Target::atMost(
                'shared memory: of Latch in memory',
                1.6,
                'x',
                $ratio('shared memory, same lock; Symfony by flock', 'latch', 'latch, memory'),
            ),
            Target::atMost(
                'shared memory: cost with 10,000 held, of that with 1',
                1.25,
                'x',
                $held(10_000, 'ns', 'shm') / $held(1, 'ns', 'shm'),
            ),
            Target::atMost(
                'shared memory: hand-off to a waiter, median',
                0.05,
                'ms',
                Stats::median($this->measured['handoff_ns']['shm']['latch']) / 1e6,
            ),
            Target::atMost(
                'flock: hand-off to a waiter, median',
                0.3,
                'ms',
                Stats::median($this->measured['handoff_ns']['flock']['latch']) / 1e6,
            ),
            ...array_map(
                static fn (string $store, array $latencies): Target => Target::atMost(
                    "$store: signal handler during a wait, 90 of 100",
                    10,
                    'ms',
                    Stats::percentile($latencies, 90) / 1e6,
                ),
                array_keys($this->measured['signal_ns']),
                $this->measured['signal_ns'],
            ),
            Target::atMost(
                "a start with a FlockStore's lock, beyond one with PHP's flock(): processor time",
                0.5,
                'ms',
                Stats::median($this->addedTo('flock')) / 1e6,
            ),
            Target::atMost(
                'in memory: each of 100,000 held locks',
                512,
                'bytes',
                $held(100_000, 'resident'),
            ),
            Target::atMost(
                'in memory: cost with 100,000 held, of that with 1',
                1.25,
                'x',
                $held(100_000, 'ns') / $held(1, 'ns'),
            ),
        ];
    }

    public function picture(): Picture
    {
        $costs = $this->measured['costs_ns'];

        return $this->bars(
            'What a lock costs that nobody else wants',
            [
                'in memory' => $costs['memory, same lock'],
                'flock' => $costs['flock, same lock'],
                'semaphore' => $costs['semaphore, same lock'],
                'shared memory' => ['latch' => $costs['shared memory, same lock; Symfony by flock']['latch']],
            ],
            self::LONG_NAMES,
        );
    }

    private function latencyTable(): Table
    {
        $table = new Table('', 'median', '90 of 100', 'max', 'number');
        $add = static function (string $row, array $latencies) use ($table): void {
            $summary = Stats::summary($latencies);
            $cells = array_map(
                static fn (float $ns): string => self::number($ns / 1e3, 1),
                [$summary['median'], $summary['p90'], $summary['max']],
            );
            $table->add($row, ...$cells, ...[(string) $summary['count']]);
        };
        foreach ($this->measured['handoff_ns'] as $store => $subjects) {
            foreach ($subjects as $subject => $latencies) {
                $add("$store, hand-off, " . self::NAMES[$subject], $latencies);
            }
        }
        foreach ($this->measured['signal_ns'] as $store => $latencies) {
            $add("$store, signal handler during a wait, Latch", $latencies);
        }

        return $table;
    }

    private function loadTable(): Table
    {
        $names = [
            'without' => "php -n -r ''",
            'with' => 'the same with the extension, with every store built in',
            'by hand' => "a lock by PHP's flock()",
            'flock' => 'a lock by a FlockStore',
            'redis' => 'a RedisStore, which opens hiredis',
            'redis, TLS' => 'one by TLS, which opens OpenSSL, too',
            'postgresql' => 'a PostgreSqlStore, which opens libpq',
            'mysql' => 'a MysqlStore, which opens libmariadb',
        ];
        $table = new Table('', 'median', '90 of 100', 'Latch adds', 'number');
        foreach ($this->measured['load_ns'] as $program => $times) {
            $summary = Stats::summary($times);
            $hasLatch = $program !== 'without' && $program !== 'by hand';
            $table->add(
                $names[$program],
                self::number($summary['median'] / 1e3),
                self::number($summary['p90'] / 1e3),
                $hasLatch ? self::number(Stats::median($this->addedTo($program)) / 1e3) : '',
                (string) $summary['count'],
            );
        }

        return $table;
    }

    private function contentionTable(): Table
    {
        ['seconds' => $seconds, 'times_held' => $timesHeld] = $this->measured['contention'];
        $table = new Table('', 'processes', 'least', 'most', 'most : least', 'all, per second');
        foreach ($timesHeld as $store => $subjects) {
            foreach ($subjects as $subject => $counts) {
                $table->add(
                    "$store, " . self::NAMES[$subject],
                    (string) count($counts),
                    self::number(min($counts)),
                    self::number(max($counts)),
                    self::number(max($counts) / max(min($counts), 1), 2),
                    self::number(array_sum($counts) / $seconds),
                );
            }
        }

        return $table;
    }

    private function heldTable(): Table
    {
        $table = new Table('', 'heap, bytes', 'resident, bytes', 'one more, ns', 'each, ns');
        foreach ($this->measured['held'] as $store => $counts) {
            foreach ($counts as $count => $subjects) {
                foreach ($subjects as $subject => $values) {
                    $medians = array_map(Stats::median(...), $values);
                    $held = number_format($count);
                    $table->add(
                        "$store, $held held, " . self::NAMES[$subject],
                        self::number($medians['heap']),
                        // Memory comes in pages: for a single lock the number says nothing.
                        $count > 1 ? self::number($medians['resident']) : '',
                        self::number($medians['ns']),
                        self::number($medians['each_ns']),
                    );
                }
            }
        }

        return $table;
    }

    /** @return list<int> ns, for each pair of runs: what such a start takes beyond the same without the extension */
    private function addedTo(string $program): array
    {
        $measured = $this->measured['load_ns'];

        return array_map(
            static fn (int $a, int $b): int => $a - $b,
            $measured[$program],
            $measured[$program === 'flock' ? 'by hand' : 'without'],
        );
    }
}
