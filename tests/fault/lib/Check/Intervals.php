<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\Hold;

/**
 * Holds with the times between which each counts, to be asked for one that reaches far enough and is
 * somebody else's. Of all that have begun by some time, two are enough for that: the one that ends last,
 * and the one that ends last of other owners.
 */
final class Intervals
{
    /** @var list<int> ascending */
    private array $starts = [];
    /** @var list<Hold> at each start, of those that have begun: which ends last */
    private array $last = [];
    /** @var list<int> and when */
    private array $lastEnds = [];
    /** @var list<Hold|null> which ends last of those that are not that one's owner's */
    private array $others = [];
    /** @var list<int> and when */
    private array $othersEnds = [];

    /** @param \Closure(Hold, Hold): bool $same whether two are the same owner's */
    public function __construct(private readonly \Closure $same)
    {
    }

    /** In the order of the starts. */
    public function add(Hold $hold, int $start, int $end): void
    {
        $top = \count($this->starts) - 1;
        [$last, $lastEnd, $other, $otherEnd] = $top < 0
            ? [$hold, $end, null, \PHP_INT_MIN]
            : [$this->last[$top], $this->lastEnds[$top], $this->others[$top], $this->othersEnds[$top]];
        $same = ($this->same)($hold, $last);
        if ($end > $lastEnd) {
            if (!$same) {
                [$other, $otherEnd] = [$last, $lastEnd];
            }
            [$last, $lastEnd] = [$hold, $end];
        } elseif (!$same && $end > $otherEnd) {
            [$other, $otherEnd] = [$hold, $end];
        }
        $this->starts[] = $start;
        $this->last[] = $last;
        $this->lastEnds[] = $lastEnd;
        $this->others[] = $other;
        $this->othersEnds[] = $otherEnd;
    }

    /** One that starts then or before, ends then or after, and is not $hold's owner's; null = there is none. */
    public function find(int $startsBy, int $endsFrom, Hold $hold): ?Hold
    {
        $index = $this->countUntil($startsBy) - 1;
        if ($index < 0 || $this->lastEnds[$index] < $endsFrom) {
            return null;
        }
        if (!($this->same)($this->last[$index], $hold)) {
            return $this->last[$index];
        }

        return $this->othersEnds[$index] >= $endsFrom ? $this->others[$index] : null;
    }

    /** End of the last interval of another one that has begun by then; PHP_INT_MIN = none has. */
    public function lastEnd(int $startsBy, Hold $hold): int
    {
        $index = $this->countUntil($startsBy) - 1;
        if ($index < 0) {
            return \PHP_INT_MIN;
        }

        return ($this->same)($this->last[$index], $hold) ? $this->othersEnds[$index] : $this->lastEnds[$index];
    }

    /** When the next one begins, whosever it is; PHP_INT_MAX = none does. */
    public function nextStart(int $after): int
    {
        return $this->starts[$this->countUntil($after)] ?? \PHP_INT_MAX;
    }

    private function countUntil(int $time): int
    {
        [$low, $high] = [0, \count($this->starts)];
        while ($low < $high) {
            $middle = intdiv($low + $high, 2);
            $this->starts[$middle] <= $time ? $low = $middle + 1 : $high = $middle;
        }

        return $low;
    }
}
