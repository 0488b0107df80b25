<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\Conflict;
use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Hold;
use Latch\Tests\Fault\Record\Teller;

/**
 * Counting semaphores: holders that were certain of their permits never had more than the limit; a grant was made at a
 * moment at which there was room for it; and a process was refused only if there was no room at some moment
 * of its attempt, by all that may have been held, or while a waiter stood before it.
 */
final class Permits implements Check
{
    public function violations(History $history): iterable
    {
        foreach ($history->holds as $holds) {
            $holds = array_values(array_filter($holds, static fn (Hold $hold): bool => $hold->weight > 0));
            yield from $this->tooMany(array_values(array_filter(
                $holds,
                static fn (Hold $hold): bool => $hold->granted !== null,
            )));
        }
        yield from $this->refused($history);
    }

    /**
     * @param list<Hold> $holds granted ones of one semaphore
     *
     * @return iterable<Violation>
     */
    private function tooMany(array $holds): iterable
    {
        usort($holds, static fn (Hold $a, Hold $b): int => $a->granted <=> $b->granted);
        $certain = [];
        $usage = new Usage(array_map(
            static fn (Hold $hold): array => [$hold, (int) $hold->granted, (int) $hold->certainUntil],
            $holds,
        ));
        foreach ($holds as $hold) {
            $certain = array_filter(
                $certain,
                static fn (Hold $other): bool => $other->certainUntil > $hold->granted,
            );
            if ($hold->isCertain()) {
                $certain[] = $hold;
                $sum = array_sum(array_map(static fn (Hold $other): int => $other->weight, $certain));
                if ($sum > $hold->limit) {
                    yield new Violation(Kind::TooMany, "$sum of $hold->limit permits were held", ...$certain);
                }
            } elseif ($usage->least($hold->tried, (int) $hold->granted) + $hold->weight > $hold->limit) {
                yield new Violation(Kind::TooMany, 'granted while there was no room', ...[...$certain, $hold]);
            }
        }
    }

    /** @return iterable<Violation> */
    private function refused(History $history): iterable
    {
        $usages = $queues = [];
        foreach ($history->holds as $resource => $holds) {
            $queues[$resource] = $this->queue($holds);
            $usages[$resource] = new Usage(array_map(
                static fn (Hold $hold): array => [$hold, $hold->tried, $hold->possibleUntil + 1],
                array_values(array_filter($holds, static fn (Hold $hold): bool => $hold->weight > 0)),
            ));
        }
        foreach ($history->conflicts() as $conflict) {
            $attempt = $conflict->attempt;
            if ($attempt->weight > 0 && !$this->isExplained(
                $conflict,
                $usages[$attempt->resource] ?? new Usage([]),
                $queues[$attempt->resource] ?? null,
            )) {
                yield new Violation(Kind::LostGrant, 'refused at ' . $history->at($conflict->ended), $attempt);
            }
        }
    }

    /** @param Intervals|null $queue when others waited, who are not overtaken */
    private function isExplained(Conflict $conflict, Usage $usage, ?Intervals $queue): bool
    {
        $attempt = $conflict->attempt;
        // What it may have had itself is among the uses.
        $own = $attempt->waits() || $attempt->worker->has(Teller::SINGLY) ? $attempt->weight : 0;

        return $usage->most($attempt->tried, $conflict->ended) - $own + $attempt->weight > $attempt->limit
            || ($attempt->worker->has(Teller::FIRST_COME)
                && $queue?->find($conflict->ended, $attempt->tried, $attempt) !== null);
    }

    /** @param list<Hold> $holds */
    private function queue(array $holds): Intervals
    {
        $queue = new Intervals(
            static fn (Hold $a, Hold $b): bool => $a->worker->name === $b->worker->name && $a->number === $b->number,
        );
        $waits = array_filter($holds, static fn (Hold $hold): bool => $hold->weight > 0 && $hold->waits());
        usort($waits, static fn (Hold $a, Hold $b): int => $a->tried <=> $b->tried);
        foreach ($waits as $wait) {
            $queue->add($wait, $wait->tried, $wait->ended ?? $wait->possibleUntil);
        }

        return $queue;
    }
}
