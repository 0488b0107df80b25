<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What the numbers of Summary come to: the table and the picture of the README.
 */
final class SummaryReport extends Report
{
    private const SUBJECTS = ['latch', 'symfony', 'laravel'];

    protected function title(): string
    {
        return 'Latch beside Symfony and Laravel';
    }

    protected function numbers(): array
    {
        return [
            'rounds' => $this->measured['rounds'],
            'costs_ns' => array_map(self::summaries(...), $this->measured['costs_ns']),
            'handoff_ns' => array_map(self::summaries(...), $this->measured['handoff_ns']),
            'contention' => $this->measured['contention'],
        ];
    }

    /** The README has this table as it is: tests/phpunit/OwnNames/Documents/ReadmeTest.php. */
    protected function tables(): array
    {
        $table = new Table('', ...array_map(static fn (string $subject): string => self::NAMES[$subject], self::SUBJECTS));
        foreach ($this->figures() as $row => $cells) {
            $table->add($row, ...$cells);
        }

        return ['Five figures' => $table];
    }

    /** @return array<string, list<string>> by what they are figures of, those of each subject */
    private function figures(): array
    {
        ['costs_ns' => $costs, 'handoff_ns' => $handOff, 'contention' => $contention] = $this->measured;
        $each = static fn (callable $figure): array => array_map($figure, self::SUBJECTS);

        return [
            'a freed lock reaches its waiter in Redis, median' => $each(
                static fn (string $subject): string => self::duration(Stats::median($handOff[1][$subject])),
            ),
            'the same with 8 waiters, 99 of 100' => $each(
                static fn (string $subject): string => self::duration(Stats::percentile($handOff[8][$subject], 99)),
            ),
            '32 waiters: smallest share of the largest' => $each(
                static fn (string $subject): string => self::number(
                    min($contention[32][$subject]['times_held']) / max($contention[32][$subject]['times_held']) * 100,
                ) . ' %',
            ),
            'acquire and release in Redis, uncontended' => $each(
                static fn (string $subject): string => self::duration(Stats::median($costs['redis'][$subject])),
            ),
            'acquire and release by files, uncontended' => $each(
                static fn (string $subject): string => self::duration(Stats::median($costs['flock'][$subject])),
            ),
        ];
    }

    private static function duration(float $ns): string
    {
        return match (true) {
            $ns >= 10e6 => self::number($ns / 1e6) . ' ms',
            $ns >= 100e3 => self::number($ns / 1e6, 2) . ' ms',
            $ns >= 10e3 => self::number($ns / 1e3) . ' µs',
            default => self::number($ns / 1e3, 1) . ' µs',
        };
    }

    public function targets(): array
    {
        return [];
    }

    public function picture(): Picture
    {
        $picture = new Picture(
            'How long a freed lock lies idle while processes wait for it',
            "Redis, from a release to the next holder, median, microseconds, logarithmic; {$this->machine['processor']}",
            logarithmic: true,
        );
        foreach ($this->measured['handoff_ns'] as $waiters => $subjects) {
            $bars = [];
            foreach ($subjects as $subject => $latencies) {
                $bars[self::NAMES[$subject]] = Stats::median($latencies) / 1e3;
            }
            $picture->add($waiters === 1 ? '1 waiter' : "$waiters waiters", $bars);
        }

        return $picture;
    }
}
