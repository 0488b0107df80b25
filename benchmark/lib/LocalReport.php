<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What the numbers of Local come to: tables, and the targets that they meet or miss.
 *
 * A ratio is the median of the ratios within each round: what slows a whole round down, a change
 * of the clock rate for instance, does not touch it.
 */
final class LocalReport
{
    private const NAMES = [
        'latch' => 'Latch',
        'symfony' => 'Symfony',
        'c' => 'C',
        'c-least' => 'C, least',
    ];

    private const LONG_NAMES = [
        'latch' => 'Latch',
        'symfony' => 'Symfony Lock, PHP',
        'c' => 'the system calls in C',
    ];

    /**
     * @param array<string, string> $machine
     * @param array<string, mixed>  $measured
     */
    public function __construct(private readonly array $machine, private readonly array $measured)
    {
    }

    public function json(): string
    {
        $content = [
            'machine' => $this->machine,
            'targets' => $this->targets(),
            'rounds' => $this->measured['rounds'],
            'costs_ns' => array_map($this->summaries(...), $this->measured['costs_ns']),
            'handoff_ns' => array_map($this->summaries(...), $this->measured['handoff_ns']),
            'contention' => $this->measured['contention'],
            'signal_ns' => $this->summaries($this->measured['signal_ns']),
            'load_ns' => $this->summaries($this->measured['load_ns'])
                + ['added' => Stats::summary($this->addedByLoading())],
            'held' => $this->measured['held'],
        ];

        return json_encode(
            $content,
            JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR,
        ) . "\n";
    }

    public function markdown(): string
    {
        $rounds = $this->measured['rounds'];
        $sections = [
            'Targets' => $this->targetTable(),
            "Acquire and release without contention: ns, median of $rounds rounds"
                => $this->costTable(),
            'Hand-off to a blocked waiter, signals, start: microseconds' => $this->latencyTable(),
            'Endless contention: acquisitions of each process' => $this->contentionTable(),
            'Held locks: what each takes, and what one more costs' => $this->heldTable(),
        ];

        $text = "# Locks on one machine\n\n";
        foreach ($this->machine as $what => $value) {
            $text .= "- $what: $value\n";
        }
        foreach ($sections as $title => $table) {
            $text .= "\n## $title\n\n$table";
        }

        return $text;
    }

    /** @return list<Target> */
    public function targets(): array
    {
        $held = fn (int $count, string $what): float
            => Stats::median($this->measured['held']['memory'][$count]['latch'][$what]);

        return [
            Target::atMost(
                'flock: of open + flock + unlock + close in C',
                0.6,
                'x',
                $this->ratio('flock, same lock', 'latch', 'c'),
            ),
            Target::atLeast(
                'flock: faster than Symfony',
                3,
                'x',
                $this->ratio('flock, same lock', 'symfony', 'latch'),
            ),
            Target::atLeast(
                'in memory, same lock: faster than Symfony',
                5,
                'x',
                $this->ratio('memory, same lock', 'symfony', 'latch'),
            ),
            Target::atLeast(
                'in memory, new lock: faster than Symfony',
                5,
                'x',
                $this->ratio('memory, new lock', 'symfony', 'latch'),
            ),
            Target::atMost(
                'semaphore: of the same protocol in C',
                1.3,
                'x',
                $this->ratio('semaphore, same lock', 'latch', 'c'),
            ),
            Target::atLeast(
                'semaphore: faster than Symfony',
                1,
                'x',
                $this->ratio('semaphore, same lock', 'symfony', 'latch'),
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
                'loading the extension',
                1,
                'ms',
                Stats::median($this->addedByLoading()) / 1e6,
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

    /** What a lock costs that nobody else wants, as a picture. */
    public function picture(): Picture
    {
        $picture = new Picture(
            'What a lock costs that nobody else wants',
            'acquire() + release(), nanoseconds, shorter is better; ' . $this->machine['processor'],
        );
        foreach (['memory' => 'in memory', 'flock' => 'flock', 'semaphore' => 'semaphore'] as $store => $name) {
            $bars = [];
            foreach ($this->measured['costs_ns']["$store, same lock"] as $subject => $costs) {
                if ($subject !== 'c-least') {
                    $bars[self::LONG_NAMES[$subject]] = Stats::median($costs);
                }
            }
            $picture->add($name, $bars);
        }

        return $picture;
    }

    private function targetTable(): Table
    {
        $table = new Table('target', 'limit', 'measured', 'holds');
        foreach ($this->targets() as $target) {
            $measured = self::number($target->measured, $target->measured < 100 ? 2 : 0);
            $table->add($target->name, $target->limit, $measured, $target->holds ? 'yes' : 'NO');
        }

        return $table;
    }

    private function costTable(): Table
    {
        $subjects = ['latch', 'symfony', 'c', 'c-least'];
        $head = array_map(static fn (string $subject): string => self::NAMES[$subject], $subjects);
        $table = new Table('', ...$head, ...['Symfony : Latch', 'Latch : C']);
        foreach ($this->measured['costs_ns'] as $row => $costs) {
            $cells = array_map(
                static fn (string $subject): string => isset($costs[$subject])
                    ? self::number(Stats::median($costs[$subject]))
                    : '',
                $subjects,
            );
            $cells[] = self::number($this->ratio($row, 'symfony', 'latch'), 2);
            $cells[] = isset($costs['c'])
                ? self::number($this->ratio($row, 'latch', 'c'), 2)
                : '';
            $table->add($row, ...$cells);
        }

        return $table;
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
        $add("php -n -r ''", $this->measured['load_ns']['without']);
        $add('the same with the extension', $this->measured['load_ns']['with']);
        $add('the difference, run by run', $this->addedByLoading());

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

    private function ratio(string $row, string $subject, string $other): float
    {
        $costs = $this->measured['costs_ns'][$row];

        return Stats::median(array_map(
            static fn (float $a, float $b): float => $a / $b,
            $costs[$subject],
            $costs[$other],
        ));
    }

    /** @return list<int> ns, for each pair of runs */
    private function addedByLoading(): array
    {
        ['with' => $with, 'without' => $without] = $this->measured['load_ns'];

        return array_map(static fn (int $a, int $b): int => $a - $b, $with, $without);
    }

    private function summaries(array $measured): array
    {
        return array_map(Stats::summary(...), $measured);
    }

    private static function number(float $value, int $decimals = 0): string
    {
        return number_format($value, $decimals);
    }
}
