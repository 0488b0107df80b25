<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

/**
 * Violations, by kind: how many, and the first of them.
 */
abstract class Tally
{
    /** So many of a kind are kept. */
    public const SHOWN = 10;

    /** @var array<string, int> by the kinds' values */
    public array $counts = [];

    /** @var array<string, list<Violation>> */
    public array $shown = [];

    public function count(): int
    {
        return array_sum($this->counts);
    }

    /** @param int $start the time that is shown as zero */
    public function text(int $start): string
    {
        if ($this->count() === 0) {
            return "No violation.\n";
        }
        $text = '';
        foreach ($this->counts as $kind => $count) {
            $text .= sprintf("%s: %d, %s\n", strtoupper($kind), $count, Kind::from($kind)->text());
            foreach ($this->shown[$kind] as $violation) {
                $text .= "  - $violation->text\n";
                foreach ($violation->holds as $hold) {
                    $text .= '      ' . $hold->describe($start) . "\n";
                }
            }
            if ($count > self::SHOWN) {
                $text .= sprintf("  - and %d more\n", $count - self::SHOWN);
            }
        }

        return $text;
    }

    /** @param iterable<Violation> $violations */
    protected function collect(iterable $violations): void
    {
        foreach ($violations as $violation) {
            $kind = $violation->kind->value;
            $this->counts[$kind] = ($this->counts[$kind] ?? 0) + 1;
            if ($this->counts[$kind] <= self::SHOWN) {
                $this->shown[$kind][] = $violation;
            }
        }
    }
}
