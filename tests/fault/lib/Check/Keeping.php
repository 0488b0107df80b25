<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\Faults;
use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Hold;
use Latch\Tests\Fault\Record\Teller;

/**
 * A lock that is kept by renewals is certain for a TTL after the last one that can have been sent and answered, and
 * not for longer; it is lost only if something kept it from being renewed; and its loss is told.
 *
 * That it is known to be lost before anybody else has it is seen by Overlaps, that it is not certain again once it
 * was lost by Grants, and that it is free again when nobody renews it any more by LostGrants and Waits.
 */
final class Keeping implements Check
{
    /** In so long, in ns, of all its workers' time one has kept a lock for longer than its TTL. */
    private const LONG = 20_000_000_000;
    /**
     * For so long, in ns, a member of a quorum may be left out that did not answer, and lacks what was taken
     * meanwhile, or could not be renewed: then the others must be well.
     */
    private const LEFT_OUT = 20_000_000_000;

    /** How many there were; how many were certain for longer than their TTL; how many were lost. */
    public int $kept = 0;
    public int $outlasted = 0;
    public int $lost = 0;
    /** The longest time for which one was certain, in ns. */
    public int $longest = 0;

    public function violations(History $history): iterable
    {
        foreach ($history->holds as $holds) {
            foreach ($holds as $hold) {
                if ($hold->isKept()) {
                    $this->count($hold);
                    yield from $this->certainty($hold, $history);
                    yield from $this->loss($hold, $history);
                }
            }
        }
        $time = 0;
        foreach ($history->workers as $worker) {
            $time += $worker->has(Teller::KEPT) ? $worker->end - $worker->start : 0;
        }
        if ($time >= self::LONG && $this->outlasted === 0) {
            yield new Violation(Kind::Lost, "of $this->kept kept locks none was certain for longer than its TTL");
        }
    }

    private function count(Hold $hold): void
    {
        $time = $hold->saidUntil - $hold->granted;
        ++$this->kept;
        $this->outlasted += (int) ($time > $hold->ttl);
        $this->lost += (int) ($hold->gone !== null);
        $this->longest = max($this->longest, $time);
    }

    /** @return iterable<Violation> */
    private function certainty(Hold $hold, History $history): iterable
    {
        if ($hold->regained && $hold->worker->has(Teller::WHOLE_SECONDS)) {
            return; // the server had it until the end of a second, in which refresh() was carried out
        }
        // What was sent before has ended within a TTL, and what is sent afterwards finds it lost.
        foreach ($history->faults->silencesOf($hold->worker->name) as [$from, $until]) {
            $deadline = $from + $hold->ttl;
            if ($hold->granted <= $from && $deadline < min($until, (int) $hold->saidUntil)) {
                yield new Violation(Kind::Outlived, 'nobody can have renewed it from ' . $history->at($from), $hold);

                return;
            }
        }
        foreach ($history->faults->losses as [$before, $after]) {
            if ($hold->granted <= $before && $after + $hold->ttl < $hold->saidUntil) {
                yield new Violation(Kind::Outlived, 'the server has forgotten it by ' . $history->at($after), $hold);

                return;
            }
        }
    }

    /** @return iterable<Violation> */
    private function loss(Hold $hold, History $history): iterable
    {
        if ($hold->gone === null || $hold->regained) {
            return; // it was not lost, or a second time, after a refresh() that said so too late
        }
        if ($hold->noticed && $hold->told === null && $hold->releasing !== null) {
            yield new Violation(Kind::Untold, 'it was known at ' . $history->at($hold->gone), $hold);
        }
        $forgotten = $history->faults->forgotten($hold->tried);
        if ($forgotten !== null && $forgotten <= $hold->gone) {
            return;
        }
        // A holder that some members refuse another mode may be without a majority for both.
        $votes = $hold->worker->has(Teller::VOTES);
        if ($votes && ($hold->wasChanging || self::mayLackMajority($hold, $history->faults))) {
            return;
        }
        // When it was certain last, less than a TTL had passed since it had been renewed.
        $renewed = $hold->saidUntil - $hold->ttl;
        if (!$history->faults->stoodStill($hold->worker->name, $renewed, $hold->gone)) {
            $text = sprintf('gone by %s: %s', $history->at($hold->gone), $hold->told ?? '-');
            yield new Violation(Kind::Lost, $text, $hold);
        }
    }

    /** Whether so many members may have been without it that the rest were too few. */
    private static function mayLackMajority(Hold $hold, Faults $faults): bool
    {
        $from = $hold->tried - self::LEFT_OUT;

        return $faults->countTroubled($from, (int) $hold->gone) > 1 || $faults->wasSilent($from, (int) $hold->gone);
    }
}
