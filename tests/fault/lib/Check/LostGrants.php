<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Hold;
use Latch\Tests\Fault\Record\Teller;

/**
 * An attempt was refused though, as long as it took, nobody can have held what it wanted: those who had
 * held it had given it back, had been told that they have it no more, or were dead and their TTL over. So
 * the store kept a hold that nobody has.
 */
final class LostGrants implements Check
{
    public function violations(History $history): iterable
    {
        // By name: the conflicts are read by themselves, with workers of their own.
        $same = static fn (Hold $a, Hold $b): bool => $a->worker->name === $b->worker->name && $a->lock === $b->lock;
        $all = $exclusive = $queued = [];
        foreach ($history->holds as $resource => $holds) {
            usort($holds, static fn (Hold $a, Hold $b): int => $a->tried <=> $b->tried);
            [$all[$resource], $exclusive[$resource]] = [new Intervals($same), new Intervals($same)];
            $queued[$resource] = new Intervals($same);
            foreach ($holds as $hold) {
                if ($hold->waits() && $hold->worker->has(Teller::GIVES_WAY)) {
                    $queued[$resource]->add($hold, $hold->tried, $hold->ended ?? $hold->possibleUntil);
                }
                $all[$resource]->add($hold, $hold->tried, $hold->possibleUntil);
                if ($hold->exclusive) {
                    $exclusive[$resource]->add($hold, $hold->tried, $hold->possibleUntil);
                } elseif ($hold->waits() && ($hold->isOfSeveral || $hold->worker->has(Teller::FIRST_COME))) {
                    // A process that comes after a waiting reader waits, too, whatever that reader waits for.
                    $exclusive[$resource]->add($hold, $hold->tried, (int) $hold->ended);
                }
            }
        }
        foreach ($history->conflicts() as $conflict) {
            $attempt = $conflict->attempt;
            if ($attempt->weight > 0) {
                continue; // see Permits
            }
            if ($attempt->isOfSeveral) {
                foreach ($attempt->members() as $member) {
                    if (($member->exclusive ? $all : $exclusive)[$member->resource]
                        ->find($conflict->ended, $member->tried, $member) !== null
                    ) {
                        continue 2;
                    }
                }
                yield new Violation(Kind::LostGrant, 'refused at ' . $history->at($conflict->ended), $attempt);
                continue;
            }
            $others = ($attempt->exclusive ? $all : $exclusive)[$attempt->resource] ?? null;
            $waiters = $attempt->worker->has(Teller::GIVES_WAY) ? $queued[$attempt->resource] ?? null : null;
            if ($others?->find($conflict->ended, $attempt->tried, $attempt) === null
                && $waiters?->find($conflict->ended, $attempt->tried, $attempt) === null
            ) {
                yield new Violation(
                    Kind::LostGrant,
                    sprintf('refused at %.6f', ($conflict->ended - $history->start) / 1e9),
                    $others?->find($conflict->ended, \PHP_INT_MIN, $attempt),
                    $attempt,
                );
            }
        }
    }
}
