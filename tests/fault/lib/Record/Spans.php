<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * Spans of time, to be asked for the end of what touches some other span.
 */
final class Spans
{
    /** @var list<array{int, int}> from when until when */
    private array $spans = [];
    /** @var list<int>|null in the order of the beginnings: when the last ends of those that have begun by then */
    private ?array $ends = null;

    public function add(int $from, int $until): void
    {
        $this->spans[] = [$from, $until];
        $this->ends = null;
    }

    /** When the last one ends that has a moment in common with that time; null = there is none. */
    public function lastEnd(int $from, int $until): ?int
    {
        $this->ends ??= $this->order();
        [$low, $high] = [0, \count($this->spans)];
        while ($low < $high) {
            $middle = intdiv($low + $high, 2);
            $this->spans[$middle][0] <= $until ? $low = $middle + 1 : $high = $middle;
        }

        return $low > 0 && $this->ends[$low - 1] >= $from ? $this->ends[$low - 1] : null;
    }

    /** @return list<int> */
    private function order(): array
    {
        sort($this->spans);
        $ends = [];
        $last = \PHP_INT_MIN;
        foreach ($this->spans as [, $until]) {
            $ends[] = $last = max($last, $until);
        }

        return $ends;
    }
}
