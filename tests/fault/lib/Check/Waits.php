<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\Faults;
use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Hold;
use Latch\Tests\Fault\Record\Story;
use Latch\Tests\Fault\Record\Teller;

/**
 * No living, unhindered waiter of a lock that is first come, first served, is forgotten: no later process
 * goes before it, the lock is not idle while it waits, and its wait ends with its time-out, and not before.
 *
 * The bounds are those of docs/redis-queue.md. Waiters are served in turn, so that none is ever passed over;
 * and a release hands the lock to the next waiter, so that it is never idle; with a tolerance for scheduling.
 * Only behind a waiter that was killed, stopped or cut off the next one has to detect that by itself, after
 * 2 s for each such place; and if the server has lost the queue, after 2 s for each place in it. Sessions that
 * wait in the server's queue need no detection: a stopped one gets the lock all the same, and the end of a
 * session frees it.
 */
final class Waits implements Check
{
    /** Tolerance in ns for a process to queue, claim or leave, on a busy machine. */
    public const PROMPTLY = 500_000_000;
    /** An attempt that begins this much later, in ns, is behind in the queue. */
    public const BEHIND = 100_000_000;
    /** Interval in ns, for each place before its own, after which a waiter asks again. */
    public const PLACE = 2_000_000_000;

    /** The same in a table, where the next waiter attempts out of turn after that time. */
    public const TABLE_PLACE = 10_000_000_000;

    /** Time in ns for which a process without messages may poll, before it queues again. */
    public const POLLING = 1_000_000_000;

    /** Time in ns within which a waiter has its connection for messages, on a busy machine. */
    private const CONNECTING = 250_000_000;

    /** The longest times, in ns, of a wait; of a waiter that was passed over; of an idle lock. */
    public int $longest = 0;
    public int $longestPassedOver = 0;
    public int $longestIdle = 0;

    /** @var array<int, Hold> waits for the resource, by the time of the attempt */
    private array $waits;
    /** @var array<int, Hold> new holds of the resource, in the order of the grants */
    private array $grants;
    /** Times in which the resource was held, as far as is known. */
    private Intervals $taken;
    /** @var array<int, Intervals> times in which a semaphore had too few permits, by how many were wanted */
    private array $short;
    /** When readers waited to be the writer. */
    private Intervals $promotions;

    public function violations(History $history): iterable
    {
        foreach ($history->holds as $holds) {
            $this->arrange($holds, $history->faults);
            foreach ($this->waits as $wait) {
                if ($wait->number === 1 && $wait->worker->has(Teller::TTL_IN_SECONDS)) {
                    continue; // it has connected first, when all others did so, too
                }
                $this->longest = max($this->longest, $wait->ended - $wait->tried);
                yield from $this->inTime($wait, $history);
                // Nothing can be found in a shorter time.
                if ($wait->ended - $wait->tried > self::PROMPTLY) {
                    $from = $this->beginning($wait, $history->faults);
                    yield from $this->idle($wait, $from, $history);
                    if (!$wait->worker->has(Teller::ASKS_AGAIN)) {
                        yield from $this->passedOver($wait, $from);
                    }
                }
            }
        }
    }

    /** @param list<Hold> $holds of one resource */
    private function arrange(array $holds, Faults $faults): void
    {
        usort($holds, static fn (Hold $a, Hold $b): int => $a->tried <=> $b->tried);
        $isFirstCome = static fn (Hold $hold): bool => $hold->worker->has(Teller::FIRST_COME);
        $this->waits = array_filter($holds, static fn (Hold $hold): bool => $hold->waits() && $isFirstCome($hold));
        $this->promotions = new Intervals(static fn (Hold $a, Hold $b): bool => $a->worker === $b->worker);
        foreach ($this->waits as $wait) {
            if ($wait->exclusive && $wait->isChange()) {
                $this->promotions->add($wait, $wait->tried, (int) $wait->ended);
            }
        }

        $this->grants = array_filter(
            $holds,
            static fn (Hold $hold): bool => $hold->granted !== null && !$hold->isChange() && $isFirstCome($hold),
        );
        usort($this->grants, static fn (Hold $a, Hold $b): int => $a->granted <=> $b->granted);

        // Whose wait was never answered may have had it at the end of that.
        // A stopped worker's session may have had it meanwhile, or its row.
        $had = static fn (Hold $hold): bool => ($hold->worker->has(Teller::SESSION) || $hold->worker->has(Teller::TTL_IN_SECONDS))
            && $faults->hindered($hold->worker->name, $hold->tried, (int) $hold->ended);
        $start = static fn (Hold $hold): int => (int) (
            !$hold->waits() || $hold->isOfSeveral || $had($hold) ? $hold->tried : $hold->granted ?? $hold->ended
        );
        usort($holds, static fn (Hold $a, Hold $b): int => $start($a) <=> $start($b));
        // Another Lock object of the same worker is another holder, until its release.
        $this->taken = new Intervals(
            static fn (Hold $a, Hold $b): bool => $a->worker === $b->worker && $a->lock === $b->lock,
        );
        $uses = [];
        foreach ($holds as $hold) {
            // A refused worker may have had it for a moment, which explains nothing; or until a claim window ended.
            if (!$hold->refused || $hold->isOfSeveral || $had($hold)
                || $hold->possibleUntil >= $hold->ended + Story::CLAIM
            ) {
                $this->taken->add($hold, $start($hold), $hold->possibleUntil);
                if ($hold->weight > 0) {
                    $uses[] = [$hold, $start($hold), $hold->possibleUntil];
                }
            }
        }
        $usage = new Usage($uses);
        $this->short = [];
        foreach ($this->waits as $wait) {
            if ($wait->weight > 0) {
                $this->short[$wait->weight] ??= $usage->above($wait->limit - $wait->weight, $wait);
            }
        }
    }

    /** From when it must have been in the queue, with nothing that keeps it from its work. */
    private function beginning(Hold $wait, Faults $faults): int
    {
        $from = $faults->hinderedUntil($wait->worker->name, $wait->tried, (int) $wait->ended) ?? $wait->tried;
        foreach ($faults->stopsOf($wait->worker->name) as [$stopped, $continued]) {
            // It made its connection for messages, whose time-out is over since: it polls.
            if ($stopped < $wait->tried + self::CONNECTING && $continued > $wait->tried + self::POLLING) {
                $from = max($from, $continued + self::POLLING);
            }
        }
        $cut = $faults->cutUntil($wait->worker->name, $wait->tried - self::POLLING, (int) $wait->ended);
        if ($cut !== null) {
            $from = max($from, $cut + self::POLLING);
        }
        foreach ($faults->losses as [$before, $after]) {
            if ($before <= $wait->ended && $after >= $wait->tried) {
                $from = max($from, $after + self::PLACE * \count($this->waitingBetween($before, $after)));
            }
        }
        foreach ($faults->switchesOf($wait->resource) as [$before, $after]) {
            if ($before <= $wait->ended && $after >= $wait->tried) {
                $waiting = \count($this->waitingBetween($before, $after));
                $from = max($from, $after + self::POLLING + self::PLACE * $waiting);
            }
        }

        return $from;
    }

    /** @return iterable<Violation> */
    private function inTime(Hold $wait, History $history): iterable
    {
        if ($wait->patience !== Hold::ENDLESS) {
            $due = $wait->tried + $wait->patience;
            $hindered = $history->faults->hinderedUntil($wait->worker->name, $due, (int) $wait->ended);
            if ($wait->ended - max($due, $hindered ?? $due) > self::PROMPTLY) {
                yield new Violation(Kind::Late, 'ended at ' . $history->at((int) $wait->ended), $wait);
            }

            return;
        }
        // Of two readers that want to be the writer one has to give in.
        $rival = $wait->exclusive && $wait->isChange()
            ? $this->promotions->find((int) $wait->ended, $wait->tried, $wait)
            : null;
        if ($wait->refused && $rival === null) {
            yield new Violation(Kind::GaveUp, 'it was to wait without a time-out', $wait);
        }
    }

    /**
     * @return iterable<Violation>
     */
    private function idle(Hold $wait, int $from, History $history): iterable
    {
        $taken = $wait->weight > 0 ? $this->short[$wait->weight] : $this->taken;
        for ($time = $from; $time < $wait->ended; $time = $next) {
            // The holder at that time may have got it while another one was believed to have it still.
            while (($end = max($taken->lastEnd($time, $wait), $this->endOfThoseBefore($wait, $from, $time))) > $time) {
                $time = $end;
            }
            $next = min($taken->nextStart($time), (int) $wait->ended);
            $idle = $next - $time;
            if ($idle <= self::PROMPTLY) {
                continue;
            }
            $hindered = 0;
            foreach ($this->waitingBetween($from, $next) as $other) {
                $hindered += (int) (
                    !$other->worker->has(Teller::SESSION) && $this->isBefore($other, $wait, $from)
                    && $this->isHindered($other, $next, $history->faults)
                );
            }
            $this->longestIdle = max($this->longestIdle, $idle);
            $place = $wait->worker->has(Teller::ASKS_AGAIN) ? self::TABLE_PLACE : self::PLACE;
            if ($idle > self::PROMPTLY + $place * $hindered) {
                yield new Violation(Kind::Idle, sprintf(
                    'from %s to %s it was free; before it were %d that may have been hindered',
                    $history->at($time),
                    $history->at($next),
                    $hindered,
                ), $wait);
            }
        }
    }

    /** When those end that wait at that time for permits of a semaphore and stand before it, which it does not overtake. */
    private function endOfThoseBefore(Hold $wait, int $from, int $time): int
    {
        $last = $time;
        foreach ($wait->weight > 0 ? $this->waitingBetween($time, $time + self::BEHIND) : [] as $other) {
            if ($this->isBefore($other, $wait, $from)) {
                $last = max($last, (int) $other->ended);
            }
        }

        return $last;
    }

    /** @return iterable<Violation> */
    private function passedOver(Hold $wait, int $from): iterable
    {
        [$low, $high] = [0, \count($this->grants)];
        while ($low < $high) {
            $middle = intdiv($low + $high, 2);
            $this->grants[$middle]->granted <= $from ? $low = $middle + 1 : $high = $middle;
        }
        for (; isset($this->grants[$low]) && $this->grants[$low]->granted < $wait->ended; ++$low) {
            $other = $this->grants[$low];
            if ($other->tried > $from + self::PROMPTLY && $other->worker !== $wait->worker) {
                $this->longestPassedOver = max($this->longestPassedOver, $wait->ended - $other->granted);
                if ($wait->ended - $other->granted > self::PROMPTLY) {
                    yield new Violation(Kind::PassedOver, 'a later waiter had it long before', $other, $wait);
                }

                return;
            }
        }
    }

    /** @return list<Hold> waits at some time between these */
    private function waitingBetween(int $from, int $until): array
    {
        return array_values(array_filter(
            $this->waits,
            static fn (Hold $wait): bool => $wait->tried < $until && $wait->ended >= $from,
        ));
    }

    /** Whether the one may stand before the other, which was hindered until then, if it was, and lost its place. */
    private function isBefore(Hold $other, Hold $wait, int $from): bool
    {
        return $other->worker !== $wait->worker && ($other->isChange() || $other->tried < $from + self::BEHIND);
    }

    /** Whether a waiter may not have taken by that time what it was given. */
    private function isHindered(Hold $wait, int $until, Faults $faults): bool
    {
        $kill = $faults->killOf($wait->worker->name);

        return $kill !== null && $wait->worker->last === $wait && $kill <= $until
            || $faults->hindered($wait->worker->name, $wait->tried, $until);
    }
}
