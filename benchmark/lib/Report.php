<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Stringable;

/**
 * What the numbers of a suite come to: tables, and the targets that they meet or miss.
 *
 * A ratio is the median of the ratios within each round: what slows a whole round down, a change
 * of the clock rate for instance, does not touch it.
 */
abstract class Report
{
    protected const NAMES = [
        'latch' => 'Latch',
        'latch-pdo' => 'Latch, PDO',
        'symfony' => 'Symfony',
        'symfony-dbal' => 'Symfony, DBAL',
        'symfony-predis' => 'Symfony, Predis',
        'laravel' => 'Laravel',
        'c' => 'C',
        'c-least' => 'C, least',
        'c-all' => 'C, all',
    ];

    /**
     * @param array<string, string> $machine
     * @param array<string, mixed>  $measured
     */
    final public function __construct(
        protected readonly array $machine,
        protected readonly array $measured,
    ) {
    }

    /** @return list<Target> */
    abstract public function targets(): array;

    /** What the suite is about, as a picture. */
    abstract public function picture(): Stringable;

    abstract protected function title(): string;

    /** @return array<string, Table> by their titles */
    abstract protected function tables(): array;

    /** @return array<string, mixed> what is kept of what was measured */
    abstract protected function numbers(): array;

    final public function json(): string
    {
        $content = ['machine' => $this->machine, 'targets' => $this->targets()] + $this->numbers();

        return json_encode(
            $content,
            JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR,
        ) . "\n";
    }

    final public function markdown(): string
    {
        $text = "# {$this->title()}\n\n";
        foreach ($this->machine as $what => $value) {
            $text .= "- $what: $value\n";
        }
        $targets = $this->targets() === [] ? [] : ['Targets' => $this->targetTable()];
        foreach ($targets + $this->tables() as $title => $table) {
            $text .= "\n## $title\n\n$table";
        }

        return $text;
    }

    /**
     * Bars for some rows of a table of costs.
     *
     * @param array<string, array<string, list<float>>> $costs ns, by group, subject and round
     * @param array<string, string>                     $names of the subjects that are shown
     */
    final protected function bars(string $title, array $costs, array $names): Picture
    {
        $picture = new Picture(
            $title,
            'acquire() + release(), nanoseconds, shorter is better; ' . $this->machine['processor'],
        );
        foreach ($costs as $group => $subjects) {
            $bars = [];
            foreach (array_intersect_key($subjects, $names) as $subject => $rounds) {
                $bars[$names[$subject]] = Stats::median($rounds);
            }
            $picture->add($group, $bars);
        }

        return $picture;
    }

    /**
     * @param array<string, array<string, list<float>>> $costs ns, by row, subject and round
     * @param list<string>                              $subjects
     */
    final protected static function costTable(array $costs, array $subjects): Table
    {
        $head = array_map(static fn (string $subject): string => self::NAMES[$subject], $subjects);
        $table = new Table('', ...$head, ...['Symfony : Latch', 'Latch : C']);
        foreach ($costs as $row => $rounds) {
            $cells = array_map(
                static fn (string $subject): string => isset($rounds[$subject])
                    ? self::number(Stats::median($rounds[$subject]))
                    : '',
                $subjects,
            );
            $cells[] = self::number(self::ratio($rounds, 'symfony', 'latch'), 2);
            $cells[] = isset($rounds['c']) ? self::number(self::ratio($rounds, 'latch', 'c'), 2) : '';
            $table->add($row, ...$cells);
        }

        return $table;
    }

    /** @param array<string, list<float>> $rounds ns, by subject and round */
    final protected static function ratio(array $rounds, string $subject, string $other): float
    {
        return Stats::median(array_map(
            static fn (float $a, float $b): float => $a / $b,
            $rounds[$subject],
            $rounds[$other],
        ));
    }

    final protected static function summaries(array $measured): array
    {
        return array_map(Stats::summary(...), $measured);
    }

    final protected static function number(float $value, int $decimals = 0): string
    {
        return number_format($value, $decimals);
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
}
