<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Teller;

/**
 * No worker that tries for long goes without a grant, and none ends but by a signal that was sent to it, or
 * because he was told to.
 */
final class Workers implements Check
{
    /** Time of trying, in ns, within which a worker must have got a grant. */
    public const PATIENCE = 10_000_000_000;

    public function violations(History $history): iterable
    {
        $grants = [];
        foreach ($history->workers as $worker) {
            $grants[$worker->kind] = ($grants[$worker->kind] ?? 0) + $worker->grants();
            if ($worker->attempts > 0 && $worker->grants() === 0 && $worker->longestWait >= self::PATIENCE) {
                yield new Violation(Kind::Starvation, sprintf(
                    '%s tried %d times in %.1f s',
                    $worker->name,
                    $worker->attempts,
                    $worker->longestWait / 1e9,
                ));
            }
        }
        foreach (array_keys($grants, 0, true) as $kind) {
            $tried = array_filter(
                $history->workers,
                static fn (Teller $worker): bool => $worker->kind === $kind && $worker->attempts > 0,
            );
            if ($tried !== []) {
                yield new Violation(Kind::Starvation, "no worker of the kind \"$kind\" got anything");
            }
        }
        foreach ($history->faults->crashes as $name => $how) {
            yield new Violation(Kind::Crash, "$name: $how");
        }
    }
}
