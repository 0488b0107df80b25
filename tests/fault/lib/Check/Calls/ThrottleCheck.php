<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check\Calls;

use Latch\Tests\Fault\Check\Kind;
use Latch\Tests\Fault\Check\Violation;
use Latch\Tests\Fault\Check\Waits;
use Latch\Tests\Fault\Record\Call;
use Latch\Tests\Fault\Record\CallHistory;

/**
 * Throttles: in no time there are more begins than the burst, and one more for each step; a call is refused only if
 * others had slots shortly before; waits end with their time-out, and when the slots before theirs are over.
 *
 * A begin is at some time within its call, by the server's clock, which is that of the workers' machine. A call whose
 * answer is not known may have used a slot.
 */
final class ThrottleCheck implements CallCheck
{
    /** By so much both clocks may differ, in ns, and of so many ns by one. */
    private const TOLERANCE = 2_000_000;
    private const DRIFT = 1000;
    /** So many following begins are looked at from each one; and all from the first one. */
    private const FOLLOWING = 300;

    public function violations(array $calls, CallHistory $history): iterable
    {
        $begins = $slots = [];
        foreach ($calls as $call) {
            if ($call->answered('refused')) {
                yield new Violation(Kind::Refused, 'an exception', $call);
            } elseif ($call->name === 'acquire' && !$call->answered('0')) {
                $slots[] = $call;
                if ($call->result !== null) {
                    $begins[] = $call;
                }
            }
        }
        yield from $this->tooMany($begins);
        yield from $this->refused($calls, $slots, $history);
        yield from $this->late($calls, $slots, $history);
    }

    /**
     * @param list<Call> $begins in the order in which the calls began
     *
     * @return iterable<Violation>
     */
    private function tooMany(array $begins): iterable
    {
        foreach ($begins as $index => $first) {
            // By when they had begun for certain, those that cannot have begun before this call.
            $ends = array_map(
                static fn (Call $call): int => $call->ended,
                $index === 0 ? $begins : \array_slice($begins, $index, self::FOLLOWING),
            );
            sort($ends);
            [$step, $burst] = [(int) $first->arguments[1] * 1000, (int) $first->arguments[2]];
            foreach ($ends as $count => $end) {
                $time = $end - $first->began;
                $least = ($count + 1 - $burst) * $step;
                if ($least - intdiv(max(0, $least), self::DRIFT) - self::TOLERANCE > $time) {
                    yield new Violation(Kind::TooMany, sprintf('%d began in %.6f s', $count + 1, $time / 1e9), $first);
                    break;
                }
            }
        }
    }

    /**
     * @param list<Call> $calls
     * @param list<Call> $slots calls that may have had one
     *
     * @return iterable<Violation>
     */
    private function refused(array $calls, array $slots, CallHistory $history): iterable
    {
        foreach ($calls as $call) {
            $isRefusal = $call->name === 'acquire' && $call->arguments[0] === 'try' && $call->answered('0')
                || $call->name === 'look' && ctype_digit($call->result[0] ?? '') && $call->result[0] !== '0';
            if (!$isRefusal) {
                continue;
            }
            // Of a burst that was used up one slot is there again after a step.
            $step = (int) $call->arguments[1] * 1000;
            $before = $this->slotsBetween($slots, $call->began - $step - self::TOLERANCE, $call->ended, $step);
            if ($before === 0 && !$history->wasHindered($call)) {
                yield new Violation(Kind::Refused, 'nobody can have had a slot shortly before', $call);
            }
        }
    }

    /**
     * @param list<Call> $calls
     * @param list<Call> $slots
     *
     * @return iterable<Violation>
     */
    private function late(array $calls, array $slots, CallHistory $history): iterable
    {
        foreach ($calls as $call) {
            if ($call->name !== 'acquire' || $call->result === null || $call->ended - $call->began < Waits::PROMPTLY) {
                continue;
            }
            $wait = match ($call->arguments[0]) {
                'try' => 0,
                'wait' => \PHP_INT_MAX,
                default => (int) $call->arguments[0] * 1_000_000,
            };
            $step = (int) $call->arguments[1] * 1000;
            // Each slot before its own is of a call that went on meanwhile, or that nobody knows the end of.
            $wait = min($wait, $step * (1 + $this->slotsBetween($slots, $call->began, $call->ended, $step)));
            $due = $call->began + $wait;
            $due = max($due, $history->faults->hinderedUntil($call->worker->name, $call->began, $call->ended) ?? 0);
            if ($call->ended - $due > Waits::PROMPTLY) {
                yield new Violation(Kind::Late, 'due at ' . $history->at($due), $call);
            }
        }
    }

    /**
     * How many slots may have been between these times.
     *
     * @param list<Call> $slots in the order in which the calls began
     */
    private function slotsBetween(array $slots, int $from, int $until, int $step): int
    {
        [$low, $high] = [0, \count($slots)];
        while ($low < $high) {
            $middle = intdiv($low + $high, 2);
            $slots[$middle]->began < $until ? $low = $middle + 1 : $high = $middle;
        }
        // What was asked for longer ago is over: a wait is for as many slots as there are workers and killed ones.
        $count = 0;
        while (--$low >= 0 && $slots[$low]->began > $from - Waits::PLACE) {
            // The slot of a worker that was killed may be later than its death.
            $end = $slots[$low]->ended + ($slots[$low]->result === null ? self::FOLLOWING * $step : 0);
            $count += (int) ($end >= $from);
        }

        return $count;
    }
}
