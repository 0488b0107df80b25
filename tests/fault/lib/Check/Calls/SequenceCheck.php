<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check\Calls;

use Latch\Tests\Fault\Check\Kind;
use Latch\Tests\Fault\Check\Violation;
use Latch\Tests\Fault\Record\Call;
use Latch\Tests\Fault\Record\CallHistory;
use Latch\Tests\Fault\Worker\SequenceCalls;

/**
 * Sequences: turns come in the order of tickets, and never go back; while one worker's lease lasts, until it goes on or
 * gives it back, no other one has a turn; an entry has one ticket, and later ones have higher ones; what is handed out is
 * what was parked; and no entry is passed over but by abandon().
 *
 * A turn is given by resume(), by next() and by abandon().
 */
final class SequenceCheck implements CallCheck
{
    /** By so much the clocks of server and workers may differ, in ns. */
    private const TOLERANCE = 5_000_000;

    public function violations(array $calls, CallHistory $history): iterable
    {
        $turns = array_values(array_filter($calls, static fn (Call $call): bool => self::ticketOf($call) !== null));
        yield from $this->order($turns);
        yield from $this->leases($turns, $calls);
        yield from $this->entries($calls, $turns);
    }

    /** The ticket whose turn the call has given to its worker. */
    private static function ticketOf(Call $call): ?int
    {
        return match (true) {
            $call->result === null => null,
            $call->name === 'resume' => $call->answered('go') ? (int) $call->arguments[0] : null,
            $call->name === 'next', $call->name === 'abandon' => $call->result[0] === '-' ? null : (int) $call->result[0],
            default => null,
        };
    }

    /**
     * @param list<Call> $turns
     *
     * @return iterable<Violation>
     */
    private function order(array $turns): iterable
    {
        $ended = $turns;
        usort($ended, static fn (Call $a, Call $b): int => $a->ended <=> $b->ended);
        $highest = null;
        $at = 0;
        foreach ($turns as $turn) {
            for (; $at < \count($ended) && $ended[$at]->ended < $turn->began; ++$at) {
                if ($highest === null || self::ticketOf($ended[$at]) > self::ticketOf($highest)) {
                    $highest = $ended[$at];
                }
            }
            if ($highest !== null && self::ticketOf($turn) < self::ticketOf($highest)) {
                yield new Violation(Kind::Back, 'a later entry had its turn', $highest, $turn);
            }
        }
    }

    /**
     * @param list<Call> $turns
     * @param list<Call> $calls
     *
     * @return iterable<Violation>
     */
    private function leases(array $turns, array $calls): iterable
    {
        $ends = $mine = [];
        foreach ($calls as $call) {
            $worker = $call->worker->name;
            if (\in_array($call->name, ['next', 'back'], true)) {
                foreach ($mine[$worker] ?? [] as $number) {
                    $ends["$number $worker"] = $call->began;
                }
                $mine[$worker] = [];
            }
            if (self::ticketOf($call) !== null) {
                $mine[$worker][] = $call->number;
            }
        }
        foreach ($turns as $at => $turn) {
            $lease = $turn->began + (int) (SequenceCalls::LEASE * 1e9) - self::TOLERANCE;
            $until = min($lease, $ends["$turn->number {$turn->worker->name}"] ?? $lease);
            for ($next = $at + 1; $next < \count($turns) && $turns[$next]->began < $until; ++$next) {
                $other = $turns[$next];
                if ($other->worker !== $turn->worker && $other->began > $turn->ended && $other->ended < $until) {
                    yield new Violation(Kind::Overlap, 'another worker\'s lease lasted', $turn, $other);
                }
            }
        }
    }

    /**
     * @param list<Call> $calls
     * @param list<Call> $turns
     *
     * @return iterable<Violation>
     */
    private function entries(array $calls, array $turns): iterable
    {
        $first = $tickets = $ids = [];
        $excuses = 0;
        $before = null;
        foreach ($calls as $call) {
            $excuses += (int) ($call->name === 'abandon' || $call->result === null && \in_array($call->name, ['next', 'resume'], true));
            if ($call->name !== 'enter') {
                continue;
            }
            $id = $call->arguments[0];
            $isFirst = !isset($first[$id]);
            $first[$id] ??= $call;
            if ($call->result === null) {
                continue;
            }
            $ticket = (int) $call->result[0];
            if (isset($tickets[$id]) && (int) $tickets[$id]->result[0] !== $ticket && $excuses === 0) {
                yield new Violation(Kind::Twice, 'an entry has two tickets', $tickets[$id], $call);
            }
            if ($isFirst && $before !== null && $before->ended < $call->began && (int) $before->result[0] >= $ticket) {
                yield new Violation(Kind::Back, 'a later entry has a lower ticket', $before, $call);
            }
            if ($isFirst && ($before === null || (int) $before->result[0] < $ticket)) {
                $before = $call;
            }
            $tickets[$id] = $call;
            $ids[$ticket] = $id;
        }
        $had = [];
        $last = 0;
        foreach ($turns as $turn) {
            $ticket = (int) self::ticketOf($turn);
            $had[$ticket] = true;
            $last = max($last, $ticket);
            $payload = $turn->name === 'resume' ? '-' : $turn->result[1] ?? '-';
            if ($payload !== '-' && isset($ids[$ticket]) && $payload !== "last:$ids[$ticket]") {
                yield new Violation(Kind::Untrue, "it was not parked by $ids[$ticket]", $turn);
            }
        }
        $passed = array_filter(array_keys($ids), static fn (int $ticket): bool => $ticket < $last && !isset($had[$ticket]));
        if (\count($passed) > $excuses) {
            yield new Violation(Kind::PassedOver, \count($passed) . " entries never had their turn, with $excuses excuses");
        }
    }
}
