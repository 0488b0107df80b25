<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What the numbers of Primitives come to.
 */
final class PrimitivesReport extends Report
{
    private const LONG_NAMES = [
        'latch' => 'Latch',
        'symfony' => 'Symfony Semaphore, phpredis',
        'symfony-predis' => 'Symfony Semaphore, Predis',
        'c' => 'the same scripts in C',
    ];

    private const APART = ', server on another processor';

    protected function title(): string
    {
        return 'Counting semaphores in Redis';
    }

    protected function numbers(): array
    {
        return [
            'rounds' => $this->measured['rounds'],
            'costs_ns' => array_map(self::summaries(...), $this->measured['costs_ns']),
            'destructor_ns' => self::summaries($this->measured['destructor_ns']),
            'nothing_ns' => Stats::summary($this->measured['nothing_ns']),
            'apart' => [
                'cost_ns' => self::summaries($this->measured['apart']['costs_ns'][0]),
                'destructor_ns' => self::summaries($this->measured['apart']['destructor_ns']),
                'nothing_ns' => Stats::summary($this->measured['apart']['nothing_ns']),
            ],
            'requests' => $this->measured['requests'],
            'handoff_ns' => self::summaries($this->measured['handoff_ns']),
            'end_ns' => Stats::summary($this->measured['end_ns']),
            'contention' => $this->measured['contention'],
        ];
    }

    protected function tables(): array
    {
        $rounds = $this->measured['rounds'];

        return [
            "Acquire and release of a permit: ns, median of $rounds rounds" => $this->permitTable(),
            'From a release to the waiter: microseconds' => $this->handOffTable(),
            'Endless contention, holds of 1 ms: acquisitions of each process' => $this->shareTable(),
        ];
    }

    public function targets(): array
    {
        $costs = $this->measured['costs_ns'];
        ['lock' => $lock, 'permit' => $permit] = $this->measured['handoff_ns'];
        $timesHeld = $this->measured['contention']['times_held'];

        return [
            Target::atMost(
                'acquire, release: of the same scripts in C',
                1.15,
                'x',
                self::ratio($costs[0], 'latch', 'c'),
            ),
            Target::atLeast(
                'acquire, release: faster than Symfony, phpredis',
                2.0,
                'x',
                self::ratio($costs[0], 'symfony', 'latch'),
            ),
            Target::atLeast(
                'acquire, release: faster than Symfony, Predis',
                2.0,
                'x',
                self::ratio($costs[0], 'symfony-predis', 'latch'),
            ),
            Target::atLeast(
                'acquire, destructor, server on another processor: faster than Symfony, phpredis',
                2.0,
                'x',
                self::ratio($this->measured['apart']['destructor_ns'], 'symfony', 'latch'),
            ),
            Target::atLeast(
                'the same with 100 permits: faster than Symfony, phpredis',
                2.0,
                'x',
                self::ratio($costs[100], 'symfony', 'latch'),
            ),
            Target::atMost(
                'with 10,000 permits: of the cost with 10',
                1.15,
                'x',
                $this->growth('latch'),
            ),
            Target::atMost(
                'a freed permit at its waiter: of a lock\'s hand-off',
                1.15,
                'x',
                Stats::median($permit) / Stats::median($lock),
            ),
            Target::atMost(
                'the last arrival at a count-down to its waiter',
                1.0,
                'ms',
                Stats::median($this->measured['end_ns']) / 1e6,
            ),
            Target::atLeast(
                self::contenders() . ': smallest share, of the largest',
                90,
                '%',
                min($timesHeld) / max($timesHeld) * 100,
            ),
        ];
    }

    public function picture(): Picture
    {
        $costs = $this->measured['costs_ns'];

        return $this->bars(
            'What a permit of a semaphore in Redis costs when nobody waits',
            [
                'nobody else holds' => $costs[0],
                '9 others hold' => $costs[10],
                '99 others hold' => $costs[100],
                '999 others hold' => $costs[1_000],
            ],
            self::LONG_NAMES,
        );
    }

    private static function contenders(): string
    {
        return sprintf('%d processes, %d permits', Primitives::PROCESSES, Primitives::PERMITS);
    }

    /** What the most permits cost, to what ten do. */
    private function growth(string $subject): float
    {
        $costs = $this->measured['costs_ns'];

        return self::ratio(['most' => $costs[10_000][$subject], 'ten' => $costs[10][$subject]], 'most', 'ten');
    }

    private function permitTable(): Table
    {
        $names = array_map(static fn (string $subject): string => self::NAMES[$subject], PermitCosts::SUBJECTS);
        $table = new Table('', ...$names, ...['Symfony : Latch', 'Predis : Latch', 'Latch : C']);
        foreach ($this->measured['costs_ns'] as $permits => $subjects) {
            self::addCosts(
                $table,
                $permits === 0
                    ? '10 permits, nobody else holds'
                    : self::number($permits) . ' permits, others hold all but one',
                $subjects,
            );
        }
        self::addDestructor($table, '', $this->measured);
        self::addCosts($table, '10 permits, nobody else holds' . self::APART, $this->measured['apart']['costs_ns'][0]);
        self::addDestructor($table, self::APART, $this->measured['apart']);
        $growth = array_map(
            fn (string $subject): string => self::number($this->growth($subject), 2),
            PermitCosts::SUBJECTS,
        );
        $table->add('10,000 permits : 10', ...$growth, ...['', '', '']);

        return $table;
    }

    /** @param array<string, list<float>> $subjects */
    private static function addCosts(Table $table, string $what, array $subjects): void
    {
        $table->add(
            $what,
            ...array_map(
                static fn (string $subject): string => self::number(Stats::median($subjects[$subject])),
                PermitCosts::SUBJECTS,
            ),
            ...[
                self::number(self::ratio($subjects, 'symfony', 'latch'), 2),
                self::number(self::ratio($subjects, 'symfony-predis', 'latch'), 2),
                self::number(self::ratio($subjects, 'latch', 'c'), 2),
            ],
        );
    }

    /**
     * And what any two requests cost.
     *
     * @param array<string, mixed> $measured by PermitCosts
     */
    private static function addDestructor(Table $table, string $where, array $measured): void
    {
        $destructor = $measured['destructor_ns'];
        $table->add(
            "10 permits, nobody else holds: create, acquire, destructor$where",
            ...array_map(
                static fn (string $subject): string => self::number(Stats::median($destructor[$subject])),
                PermitCosts::WITH_DESTRUCTOR,
            ),
            ...['', self::number(self::ratio($destructor, 'symfony', 'latch'), 2)],
            ...[self::number(self::ratio($destructor, 'symfony-predis', 'latch'), 2), ''],
        );
        $nothing = Stats::median($measured['nothing_ns']);
        $alone = $measured['costs_ns'][0];
        $table->add(
            "two requests that do nothing, in C$where",
            ...['', '', '', self::number($nothing)],
            ...[
                self::number(Stats::median($alone['symfony']) / $nothing, 2),
                self::number(Stats::median($alone['symfony-predis']) / $nothing, 2),
                '',
            ],
        );
    }

    private function handOffTable(): Table
    {
        $table = new Table('', 'median', '99 of 100', 'max', 'number', 'to a lock');
        $lock = Stats::median($this->measured['handoff_ns']['lock']);
        $all = $this->measured['handoff_ns'] + ['count-down, last arrival' => $this->measured['end_ns']];
        foreach ($all as $what => $latencies) {
            ['median' => $median, 'p99' => $p99, 'max' => $max] = Stats::summary($latencies);
            $table->add(
                "a $what",
                ...array_map(static fn (float $ns): string => self::number($ns / 1e3, 1), [$median, $p99, $max]),
                ...[self::number(count($latencies)), self::number($median / $lock, 2)],
            );
        }

        return $table;
    }

    private function shareTable(): Table
    {
        ['times_held' => $timesHeld, 'seconds' => $seconds] = $this->measured['contention'];
        $table = new Table('', 'least', 'most', 'least : most', 'all, per second');
        $table->add(
            self::contenders() . ', Latch',
            self::number(min($timesHeld)),
            self::number(max($timesHeld)),
            self::number(min($timesHeld) / max($timesHeld) * 100) . ' %',
            self::number(array_sum($timesHeld) / $seconds),
        );

        return $table;
    }
}
