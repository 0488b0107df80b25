<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Hold;

/**
 * Two workers held one resource for certain at the same time, at least one of them exclusively; or one was
 * granted, from the call to its return, while another one held for certain.
 */
final class Overlaps implements Check
{
    public function violations(History $history): iterable
    {
        foreach ($history->holds as $holds) {
            yield from $this->among(array_filter($holds, static fn (Hold $hold): bool => $hold->granted !== null));
        }
    }

    /**
     * @param array<int, Hold> $holds of one resource
     *
     * @return iterable<Violation>
     */
    private function among(array $holds): iterable
    {
        usort($holds, static fn (Hold $a, Hold $b): int => $a->granted <=> $b->granted);
        $same = static fn (Hold $a, Hold $b): bool => $a->worker === $b->worker;
        [$all, $exclusive] = [new Intervals($same), new Intervals($same)];
        foreach ($holds as $hold) {
            if (!$hold->isCertain()) {
                continue;
            }
            $other = ($hold->exclusive ? $all : $exclusive)
                ->find((int) $hold->granted, $hold->granted + 1, $hold);
            if ($other !== null) {
                yield new Violation(Kind::Overlap, $this->text($other, $hold), $other, $hold);
            }
            $all->add($hold, (int) $hold->granted, (int) $hold->certainUntil);
            if ($hold->exclusive) {
                $exclusive->add($hold, (int) $hold->granted, (int) $hold->certainUntil);
            }
        }
        foreach ($holds as $hold) {
            $other = $hold->isCertain() ? null : ($hold->exclusive ? $all : $exclusive)
                ->find($hold->tried - 1, $hold->granted + 1, $hold);
            if ($other !== null) {
                yield new Violation(Kind::Overlap, 'granted while it was held', $other, $hold);
            }
        }
    }

    private function text(Hold $a, Hold $b): string
    {
        return sprintf(
            'both held for %.6f s',
            (min($a->certainUntil, $b->certainUntil) - max($a->granted, $b->granted)) / 1e9,
        );
    }
}
