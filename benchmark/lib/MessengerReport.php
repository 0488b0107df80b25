<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What the numbers of Messenger come to.
 */
final class MessengerReport extends Report
{
    private const LONG_NAMES = [
        'with' => 'with the bundle',
        'without' => 'without it',
        'rule' => '#[Lock]',
        'by-hand' => 'the handler locks',
        'alone' => 'the lock alone',
    ];

    protected function title(): string
    {
        return 'Messages in Symfony\'s bus';
    }

    protected function numbers(): array
    {
        return [
            'rounds' => $this->measured['rounds'],
            'costs_ns' => array_map(self::summaries(...), $this->measured['costs_ns']),
        ];
    }

    protected function tables(): array
    {
        $rounds = $this->measured['rounds'];

        return [
            "A message without a rule: microseconds, median of $rounds rounds" => $this->plainTable(),
            'A message with one lock, handled at once: microseconds' => $this->lockedTable(),
        ];
    }

    public function targets(): array
    {
        $costs = $this->measured['costs_ns'];
        $targets = [];
        foreach (MessengerCosts::WAYS as $way) {
            $targets[] = Target::atMost("without a rule, $way: more by the bundle", 10, 'µs', self::more($costs[$way], 'with', 'without'));
        }
        foreach (Messenger::STORES as $store) {
            $targets[] = Target::atMost(
                "one lock, $store: of a handler that takes it by hand",
                1.2,
                'x',
                self::ratio($costs[$store], 'rule', 'by-hand'),
            );
        }

        return $targets;
    }

    public function picture(): Picture
    {
        $picture = new Picture(
            'What a message costs in Symfony\'s bus',
            'microseconds, shorter is better; ' . $this->machine['processor'],
        );
        foreach ($this->measured['costs_ns'] as $row => $subjects) {
            $bars = [];
            foreach ($subjects as $subject => $rounds) {
                $bars[self::LONG_NAMES[$subject]] = round(Stats::median($rounds) / 1e3, 1);
            }
            $picture->add(in_array($row, Messenger::STORES, true) ? "one lock in $row" : "without a rule, $row", $bars);
        }

        return $picture;
    }

    private function plainTable(): Table
    {
        $table = new Table('', ...[...$this->names(MessengerCosts::SUBJECTS), 'more']);
        foreach (MessengerCosts::WAYS as $way) {
            $subjects = $this->measured['costs_ns'][$way];
            $table->add($way, ...[
                ...$this->medians($subjects, MessengerCosts::SUBJECTS),
                self::number(self::more($subjects, 'with', 'without'), 1),
            ]);
        }

        return $table;
    }

    private function lockedTable(): Table
    {
        $table = new Table('', ...[
            ...$this->names(MessengerCosts::LOCKED),
            'rule : handler',
            'more',
            'what the rule adds : lock',
        ]);
        $plain = $this->measured['costs_ns'][MessengerCosts::WAYS[0]]['with'];
        foreach (Messenger::STORES as $store) {
            $subjects = $this->measured['costs_ns'][$store];
            $added = ['rule' => array_map(static fn (float $a, float $b): float => $a - $b, $subjects['rule'], $plain)] + $subjects;
            $table->add($store, ...[
                ...$this->medians($subjects, MessengerCosts::LOCKED),
                self::number(self::ratio($subjects, 'rule', 'by-hand'), 2),
                self::number(self::more($subjects, 'rule', 'by-hand'), 1),
                self::number(self::ratio($added, 'rule', 'alone'), 2),
            ]);
        }

        return $table;
    }

    /**
     * @param list<string> $subjects
     *
     * @return list<string>
     */
    private function names(array $subjects): array
    {
        return array_map(static fn (string $subject): string => self::LONG_NAMES[$subject], $subjects);
    }

    /**
     * @param array<string, list<float>> $measured
     * @param list<string>               $subjects
     *
     * @return list<string>
     */
    private function medians(array $measured, array $subjects): array
    {
        return array_map(static fn (string $subject): string => self::number(Stats::median($measured[$subject]) / 1e3, 1), $subjects);
    }

    /**
     * @param array<string, list<float>> $rounds ns, by subject and round
     *
     * @return float microseconds, the median of the differences within each round
     */
    private static function more(array $rounds, string $subject, string $other): float
    {
        return Stats::median(array_map(
            static fn (float $a, float $b): float => ($a - $b) / 1e3,
            $rounds[$subject],
            $rounds[$other],
        ));
    }
}
