<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Hold;

/**
 * A multi-lock that waits is not forgotten: its wait ends with its time-out; without one it ends, however its members
 * are contended for; and not long after all its members are free. That its members exclude others, and that it is not
 * refused without a reason, is found by the checks of locks.
 */
final class MultiLocks implements Check
{
    /** No wait is longer, in ns: what is held ends within seconds, and processes that wait for each other would not end. */
    public const STUCK = 30_000_000_000;
    /** The pause before the next round, in ns, and the requests of that round, on a busy machine. */
    public const ROUND = 1_000_000_000;

    public function violations(History $history): iterable
    {
        $taken = [];
        foreach ($history->holds as $resource => $holds) {
            $taken[$resource] = $this->taken($holds);
        }
        $seen = [];
        foreach ($history->holds as $holds) {
            foreach ($holds as $wait) {
                $name = "{$wait->worker->name} $wait->number";
                if ($wait->isOfSeveral && $wait->waits() && !isset($seen[$name])) {
                    $seen[$name] = true;
                    yield from $this->inTime($wait, $history);
                    yield from $this->idle($wait, $history, array_map(
                        static fn (string $resource): Intervals => $taken[$resource],
                        $wait->siblings,
                    ));
                }
            }
        }
    }

    /** @return iterable<Violation> */
    private function inTime(Hold $wait, History $history): iterable
    {
        $faults = $history->faults;
        $due = $wait->patience === Hold::ENDLESS ? $wait->tried + self::STUCK : $wait->tried + $wait->patience;
        $from = max($due, $faults->hinderedUntil($wait->worker->name, $due, (int) $wait->ended) ?? $due);
        if ($wait->ended - $from > Waits::PROMPTLY) {
            yield new Violation(Kind::Late, 'ended at ' . $history->at((int) $wait->ended), $wait);
        } elseif ($wait->patience === Hold::ENDLESS && $wait->refused && !$wait->isChange()) {
            yield new Violation(Kind::GaveUp, 'it was to wait without a time-out', $wait);
        }
    }

    /**
     * @param list<Intervals> $members when each of them may have been held
     *
     * @return iterable<Violation>
     */
    private function idle(Hold $wait, History $history, array $members): iterable
    {
        $from = $history->faults->hinderedUntil($wait->worker->name, $wait->tried, (int) $wait->ended) ?? $wait->tried;
        foreach ($history->faults->losses as [$before, $after]) {
            if ($before <= $wait->ended && $after >= $wait->tried) {
                $from = max($from, $after);
            }
        }
        $tolerance = self::ROUND + Waits::PLACE;
        for ($time = $from; $wait->ended - $time > $tolerance; $time = $next) {
            do {
                $end = max(array_map(
                    static fn (Intervals $member): int => $member->lastEnd($time, $wait),
                    $members,
                ));
                $isTaken = $end > $time;
                $time = max($time, $end);
            } while ($isTaken);
            $next = min((int) $wait->ended, ...array_map(
                static fn (Intervals $member): int => $member->nextStart($time),
                $members,
            ));
            if ($next - $time > $tolerance) {
                yield new Violation(Kind::Idle, sprintf(
                    'from %s to %s all members were free',
                    $history->at($time),
                    $history->at($next),
                ), $wait);
            }
        }
    }

    /** @param list<Hold> $holds of one resource */
    private function taken(array $holds): Intervals
    {
        // Another multi-lock may have it in the middle of its wait, too.
        $start = static fn (Hold $hold): int => $hold->waits() && !$hold->isOfSeveral
            ? $hold->granted ?? (int) $hold->ended
            : $hold->tried;
        usort($holds, static fn (Hold $a, Hold $b): int => $start($a) <=> $start($b));
        $taken = new Intervals(static fn (Hold $a, Hold $b): bool => $a->worker->name === $b->worker->name);
        foreach ($holds as $hold) {
            $taken->add($hold, $start($hold), $hold->possibleUntil);
        }

        return $taken;
    }
}
