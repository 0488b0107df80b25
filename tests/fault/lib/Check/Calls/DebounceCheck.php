<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check\Calls;

use Latch\Tests\Fault\Check\Kind;
use Latch\Tests\Fault\Check\Violation;
use Latch\Tests\Fault\Record\Call;
use Latch\Tests\Fault\Record\CallHistory;

/**
 * Debounces: none goes, or is held, in whose place a later one of its burst has come, or that is done; none goes before
 * its burst can have ended, and none is held when it must have; what is told of the end of a burst can be true; one is
 * done only if it was said to be done, or a later one can have come in its place, and never all that can have been the
 * last of a burst. Occurrences that nobody can have sent count for nothing; tokens rise.
 *
 * A token is a time by the server's clock, so that tokens tell which occurrences belong to one burst. By the workers'
 * clock that time is within the call by which the occurrence was registered.
 */
final class DebounceCheck implements CallCheck
{
    /** By so much both clocks may differ, in ns. */
    private const TOLERANCE = 2_000_000;
    /** A server forgets the first of 64 bursts that have ended and are not done: these last for more quiet times than that. */
    private const REMEMBERED = 60;

    /** @var array<string, array<int, Call>>|null those that have registered, by resource and token in ns */
    private ?array $registrations = null;
    /** @var array<int, Occurrence> by token, in this order */
    private array $occurrences;
    /** @var list<int> their tokens */
    private array $tokens;
    /** In ns. */
    private int $quiet = 0;
    private int $max = 0;

    public function violations(array $calls, CallHistory $history): iterable
    {
        $this->registrations ??= self::registrations($history);
        $this->arrange($calls);
        yield from $this->order($calls);
        foreach ($calls as $call) {
            $token = self::tokenOf($call);
            if ($call->answered('refused')) {
                yield new Violation(Kind::Refused, 'an exception', $call);
            } elseif ($call->name === 'register' && $call->result !== null) {
                yield from $this->end($call, new Occurrence((int) $call->result[0] * 1000), $call, (int) $call->result[1] * 1000);
            } elseif ($call->name === 'resume' && $call->result !== null && $token !== null) {
                yield from $this->turn($call, $this->occurrences[$token]);
            }
        }
        yield from $this->passedOver();
    }

    /** @return array<string, array<int, Call>> */
    private static function registrations(CallHistory $history): array
    {
        $registrations = [];
        foreach ($history->calls as $call) {
            if ($call->name === 'register' && $call->result !== null && !$call->answered('refused')) {
                $registrations[$call->resource][(int) $call->result[0] * 1000] = $call;
            }
        }

        return $registrations;
    }

    private static function tokenOf(Call $call): ?int
    {
        return isset($call->arguments[2]) ? (int) $call->arguments[2] * 1000 : null;
    }

    /** @param list<Call> $calls */
    private function arrange(array $calls): void
    {
        $this->occurrences = [];
        foreach ($calls as $call) {
            [$this->quiet, $this->max] = [(int) $call->arguments[0] * 1000, (int) $call->arguments[1] * 1000];
            $token = self::tokenOf($call);
            if ($token === null) {
                continue;
            }
            $one = $this->occurrences[$token] ??= $this->occurrence($token, $call->resource);
            if ($call->name === 'done') {
                $one->mayBeDone = min($one->mayBeDone, $call->began);
            } else {
                $one->mayCount = min($one->mayCount, $call->began);
                $one->isSent = $call->result !== null ? min($one->isSent, $call->ended) : $one->isSent;
                $one->went = $call->answered('go') ? min($one->went, $call->ended) : $one->went;
            }
        }
        foreach ($calls as $call) {
            $one = $this->occurrences[self::tokenOf($call)] ?? null;
            // What the server does not know, as it has forgotten it, is not done by that.
            if ($one !== null && $call->name === 'done' && $call->result !== null && $call->began > $one->went) {
                $one->isDone = min($one->isDone, $call->ended);
            }
            if ($one !== null && $call->name === 'resume' && $call->answered('done')) {
                $one->isReplaced = $one->isReplaced || $one->mayBeDone >= $call->ended && $this->isRemembered($one, $call);
            }
        }
        ksort($this->occurrences);
        $this->tokens = array_keys($this->occurrences);
    }

    private function occurrence(int $token, string $resource): Occurrence
    {
        $one = new Occurrence($token);
        $registration = $this->registrations[$resource][$token] ?? null;
        if ($registration !== null) {
            [$one->began, $one->ended] = [$registration->began, $registration->ended];
        }

        return $one;
    }

    private function isRemembered(Occurrence $one, Call $call): bool
    {
        return $call->ended - $one->began < self::REMEMBERED * $this->quiet;
    }

    /**
     * @param list<Call> $calls
     *
     * @return iterable<Violation>
     */
    private function order(array $calls): iterable
    {
        $began = array_values(array_filter($calls, static fn (Call $call): bool => $call->name === 'register'
            && $call->result !== null && !$call->answered('refused')));
        $ended = $began;
        usort($ended, static fn (Call $a, Call $b): int => $a->ended <=> $b->ended);
        $highest = null;
        $at = 0;
        $first = [];
        foreach ($began as $call) {
            for (; $at < \count($ended) && $ended[$at]->ended < $call->began; ++$at) {
                if ($highest === null || (int) $ended[$at]->result[0] > (int) $highest->result[0]) {
                    $highest = $ended[$at];
                }
            }
            $token = (int) ($call->result[0] ?? 0);
            if (isset($first[$token])) {
                yield new Violation(Kind::Twice, 'two occurrences have one token', $first[$token], $call);
            } elseif ($highest !== null && $token < (int) $highest->result[0]) {
                yield new Violation(Kind::Back, 'a later occurrence has a lower token', $highest, $call);
            }
            $first[$token] = $call;
        }
    }

    /** @return iterable<Violation> */
    private function turn(Call $call, Occurrence $one): iterable
    {
        if ($call->answered('done')) {
            if (!$this->mayBeDone($one, $call)) {
                yield new Violation(Kind::Refused, 'no later one of its burst can have come', $call);
            }

            return;
        }
        if ($one->isDone < $call->began) {
            yield new Violation(Kind::Twice, 'it was done', $call);
        }
        if ($call->answered('go')) {
            if ($call->ended - $one->began + self::TOLERANCE < $this->leastDue($one, $call->ended) - $one->token) {
                yield new Violation(Kind::Untrue, 'its burst cannot have ended', $call);
            }
            if ($this->isReplaced($one, $call)) {
                yield new Violation(Kind::Untrue, 'a later one of its burst has come', $call);
            }

            return;
        }
        if ($call->began - $one->ended > $this->quiet + self::TOLERANCE) {
            yield new Violation(Kind::Untrue, 'its burst had ended', $call);
        }
        foreach ($this->after($one->token, $call->began) as $other) {
            if ($other->isSent < $call->began) {
                yield new Violation(Kind::Untrue, 'a later one has come', $call);
                break;
            }
        }
        yield from $this->end($call, $one, $one, (int) $call->result[1] * 1000);
    }

    /**
     * Occurrences that can have been registered by then.
     *
     * @return iterable<Occurrence>
     */
    private function after(int $token, int $until): iterable
    {
        for ($at = $this->position($token); $at < \count($this->tokens); ++$at) {
            $other = $this->occurrences[$this->tokens[$at]];
            if ($other->began > $until) {
                break;
            }
            if ($other->token > $token) {
                yield $other;
            }
        }
    }

    /** Of the first token that is as high. */
    private function position(int $token): int
    {
        [$low, $high] = [0, \count($this->tokens)];
        while ($low < $high) {
            $middle = intdiv($low + $high, 2);
            $this->tokens[$middle] < $token ? $low = $middle + 1 : $high = $middle;
        }

        return $low;
    }

    private function mayBeDone(Occurrence $one, Call $call): bool
    {
        if ($one->mayBeDone < $call->ended || !$this->isRemembered($one, $call)) {
            return true;
        }
        foreach ($this->after($one->token, $call->ended) as $other) {
            // In the same burst; or it was there first, so that this one never counted.
            if ($other->mayCount < $call->ended && ($other->token < $one->token + $this->quiet || $other->mayCount <= $one->isSent)) {
                return true;
            }
        }

        return false;
    }

    /** The earliest end of its burst as it was at that time, by the server's clock. */
    private function leastDue(Occurrence $one, int $until): int
    {
        $first = $one->token;
        for ($at = $this->position($one->token) - 1; $at >= 0; --$at) {
            $before = $this->tokens[$at];
            if ($this->occurrences[$before]->mayCount >= $until) {
                continue;
            }
            if ($first - $before >= $this->quiet || $one->token - $before >= $this->max) {
                break;
            }
            $first = $before;
        }

        return min($one->token + $this->quiet, $first + $this->max);
    }

    /** Whether a later one has come for certain that is in its burst, or that had come before this one did. */
    private function isReplaced(Occurrence $one, Call $call): bool
    {
        $due = $this->leastDue($one, $call->ended);
        foreach ($this->after($one->token, $call->began) as $other) {
            if ($other->isSent < $call->began
                && ($other->isSent < $one->mayCount || $other->token < $due && !$this->mayBeOvertaken($due, $other))
            ) {
                return true;
            }
        }

        return false;
    }

    /** Whether another burst may have begun before that one counted, which counts for nothing then. */
    private function mayBeOvertaken(int $due, Occurrence $other): bool
    {
        foreach ($this->after($due - 1, $other->isSent) as $next) {
            if ($next->mayCount <= $other->isSent) {
                return true;
            }
        }

        return false;
    }

    /**
     * Whether a burst can end so much after that call's effect.
     *
     * @param Occurrence|Call $registered the occurrence, or the call that has made it
     *
     * @return iterable<Violation>
     */
    private function end(Call $call, Occurrence $one, Occurrence|Call $registered, int $left): iterable
    {
        [$from, $until] = [
            $call->began + $left - $registered->ended - self::TOLERANCE,
            $call->ended + $left - $registered->began + self::TOLERANCE,
        ];
        if ($from <= $this->quiet && $until >= $this->quiet) {
            return;
        }
        // Else by the greatest time of one that was the first.
        for ($at = $this->position($one->token + $this->quiet - $this->max + 1) - 1; $at >= 0; --$at) {
            $first = $this->occurrences[$this->tokens[$at]];
            $end = $first->token + $this->max - $one->token;
            if ($end < $from) {
                break;
            }
            if ($end <= $until && $first->mayCount < $call->ended) {
                return;
            }
        }
        yield new Violation(Kind::Untrue, 'no burst ends then', $call);
    }

    /**
     * The last of the burst of an occurrence comes before its greatest time is over.
     *
     * @return iterable<Violation>
     */
    private function passedOver(): iterable
    {
        $next = \PHP_INT_MAX; // the next one that may be the last of a burst
        $last = null;
        foreach (array_reverse($this->occurrences) as $one) {
            $next = $one->isReplaced ? $next : $one->token;
            if ($one->isSent === \PHP_INT_MAX || $next < $one->token + $this->max) {
                continue;
            }
            foreach ($this->after($one->token, $one->isSent) as $other) {
                if ($other->mayCount <= $one->isSent) {
                    continue 2; // it may count for nothing
                }
            }
            $last = $one;
        }
        if ($last !== null) {
            yield new Violation(Kind::PassedOver, sprintf('none goes of the burst of %d', intdiv($last->token, 1000)));
        }
    }
}
