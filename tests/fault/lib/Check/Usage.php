<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\Hold;

/**
 * How many permits of a semaphore are in use at each time.
 */
final class Usage
{
    /** @var list<int> ascending times of changes */
    private array $times = [];
    /** @var list<int> the number from then on */
    private array $sums = [];

    /** @param list<array{Hold, int, int}> $uses holds, from when until before when each counts */
    public function __construct(array $uses)
    {
        $changes = [];
        foreach ($uses as [$hold, $from, $until]) {
            if ($from < $until) {
                $changes[] = [$from, $hold->weight];
                $changes[] = [$until, -$hold->weight];
            }
        }
        sort($changes);
        $sum = 0;
        foreach ($changes as [$time, $change]) {
            $sum += $change;
            if ($this->times !== [] && end($this->times) === $time) {
                $this->sums[\count($this->sums) - 1] = $sum;
            } else {
                $this->times[] = $time;
                $this->sums[] = $sum;
            }
        }
    }

    /** The least number in use at any moment between these, both included. */
    public function least(int $from, int $until): int
    {
        return min($this->between($from, $until));
    }

    public function most(int $from, int $until): int
    {
        return max($this->between($from, $until));
    }

    /** The times in which more than that are in use; they are nobody's. */
    public function above(int $number, Hold $hold): Intervals
    {
        $above = new Intervals(static fn (Hold $a, Hold $b): bool => false);
        $start = null;
        foreach ($this->times as $index => $time) {
            if ($this->sums[$index] > $number) {
                $start ??= $time;
            } elseif ($start !== null) {
                $above->add($hold, $start, $time);
                $start = null;
            }
        }

        return $above;
    }

    /** @return non-empty-list<int> */
    private function between(int $from, int $until): array
    {
        [$low, $high] = [0, \count($this->times)];
        while ($low < $high) {
            $middle = intdiv($low + $high, 2);
            $this->times[$middle] <= $from ? $low = $middle + 1 : $high = $middle;
        }
        $sums = [$this->sums[$low - 1] ?? 0];
        for (; isset($this->times[$low]) && $this->times[$low] <= $until; ++$low) {
            $sums[] = $this->sums[$low];
        }

        return $sums;
    }
}
