<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Hold;

/**
 * State of the workers that faults struck, by the order of their attempts, as the queue itself is unknown.
 */
final class Strikes
{
    public const PLACES = ['a holder', 'first in a queue', 'further back', 'elsewhere'];

    /** Longest wait in ns that is considered among earlier attempts. */
    private const LONG = 5_000_000_000;

    public function __construct(private readonly History $history)
    {
    }

    /** @return array<string, array<string, int>> by the faults' values and by the places */
    public function counts(): array
    {
        $counts = [];
        $struck = array_flip(array_column($this->history->faults->strikes, 2));
        $byWorker = $waits = [];
        foreach ($this->history->holds as $resource => $holds) {
            foreach ($holds as $hold) {
                if (isset($struck[$hold->worker->name])) {
                    $byWorker[$hold->worker->name][] = $hold;
                }
                if ($hold->waits()) {
                    $waits[$resource][] = $hold;
                }
            }
        }
        foreach ($waits as &$list) {
            usort($list, static fn (Hold $a, Hold $b): int => $a->tried <=> $b->tried);
        }
        unset($list);
        foreach ($this->history->faults->strikes as [$fault, $time, $worker]) {
            $counts[$fault->value] ??= array_fill_keys(self::PLACES, 0);
            ++$counts[$fault->value][self::PLACES[$this->place($time, $byWorker[$worker] ?? [], $waits)]];
        }

        return $counts;
    }

    /**
     * @param list<Hold>                $holds of the worker's
     * @param array<string, list<Hold>> $waits by resource, by when they began
     */
    private function place(int $time, array $holds, array $waits): int
    {
        $place = 3;
        foreach ($holds as $hold) {
            if ($hold->waits() && $hold->tried <= $time && $time <= $hold->ended) {
                return $this->isFirst($hold, $time, $waits[$hold->resource]) ? 1 : 2;
            }
            $end = $hold->releasing ?? $hold->possibleUntil;
            if ($hold->granted !== null && $hold->granted <= $time && $time < $end) {
                $place = 0;
            }
        }

        return $place;
    }

    /** @param list<Hold> $waits for the same, by when they began */
    private function isFirst(Hold $wait, int $time, array $waits): bool
    {
        [$low, $high] = [0, \count($waits)];
        while ($low < $high) {
            $middle = intdiv($low + $high, 2);
            $waits[$middle]->tried < $wait->tried ? $low = $middle + 1 : $high = $middle;
        }
        while (--$low >= 0 && $waits[$low]->tried > $wait->tried - self::LONG) {
            if ($waits[$low]->ended > $time) {
                return false;
            }
        }

        return true;
    }
}
