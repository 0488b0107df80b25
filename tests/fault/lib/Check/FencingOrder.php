<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Hold;
use Latch\Tests\Fault\Record\Teller;

/**
 * Exclusive holders of a resource have tokens that increase in the order of their holds: of those whose
 * acquire() had returned before the other one's was called, and of those that held for certain. No two
 * holds have the same. Readers have none.
 */
final class FencingOrder implements Check
{
    public function violations(History $history): iterable
    {
        foreach ($history->holds as $holds) {
            $fenced = $again = [];
            foreach ($holds as $hold) {
                if ($hold->granted === null || !$hold->worker->has(Teller::FENCING)) {
                    continue;
                }
                if ($hold->exclusive !== ($hold->token !== null)) {
                    $text = $hold->exclusive ? 'a writer without a token' : 'a reader with a token';
                    yield new Violation(Kind::Fencing, $text, $hold);
                } elseif ($hold->exclusive) {
                    $same = "{$hold->worker->name} $hold->lock $hold->token";
                    if ($hold->isOfSeveral && isset($again[$same])) {
                        continue; // a member of a multi-lock that was acquired once more
                    }
                    $again[$same] = true;
                    $fenced[] = $hold;
                }
            }
            yield from $this->among($fenced);
        }
    }

    /**
     * @param list<Hold> $holds the exclusive ones of one resource
     *
     * @return iterable<Violation>
     */
    private function among(array $holds): iterable
    {
        $byGrant = $byTry = $byToken = $holds;
        usort($byGrant, static fn (Hold $a, Hold $b): int => $a->granted <=> $b->granted);
        usort($byTry, static fn (Hold $a, Hold $b): int => $a->tried <=> $b->tried);
        usort($byToken, static fn (Hold $a, Hold $b): int => [$a->token, $a->tried] <=> [$b->token, $b->tried]);
        $reported = [];

        // Granted before this one was tried for.
        $highest = null;
        $next = 0;
        foreach ($byTry as $hold) {
            for (; isset($byGrant[$next]) && $byGrant[$next]->granted <= $hold->tried; ++$next) {
                $highest = $byGrant[$next]->token > $highest?->token ? $byGrant[$next] : $highest;
            }
            if ($highest !== null && $hold->token <= $highest->token) {
                $reported[spl_object_id($hold)] = true;
                yield new Violation(Kind::Fencing, 'a later hold has no higher token', $highest, $hold);
            }
        }

        // Held before this one was held: of two that were certain, one was over when the other began.
        $highest = null;
        foreach ($byGrant as $hold) {
            if (!$hold->isCertain()) {
                continue;
            }
            if ($highest !== null && $hold->token <= $highest->token && !isset($reported[spl_object_id($hold)])) {
                $reported[spl_object_id($hold)] = true;
                yield new Violation(Kind::Fencing, 'a later hold has no higher token', $highest, $hold);
            }
            $highest = $hold->token > $highest?->token ? $hold : $highest;
        }

        $before = null;
        foreach ($byToken as $hold) {
            if ($hold->token === $before?->token && !isset($reported[spl_object_id($hold)])) {
                yield new Violation(Kind::Fencing, 'two holds have the same token', $before, $hold);
            }
            $before = $hold;
        }
    }
}
