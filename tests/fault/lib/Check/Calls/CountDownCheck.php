<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check\Calls;

use Latch\Tests\Fault\Check\Kind;
use Latch\Tests\Fault\Check\Violation;
use Latch\Tests\Fault\Record\Call;
use Latch\Tests\Fault\Record\CallHistory;

/**
 * A count-down: the last step is given to an arrival only when all members may have arrived, to one at a time, until its
 * claim has ended, and to none after done(); an arrival behind all others is given it unless another one may have
 * it, or it may be done; and what is told of the number that is left, and of the end, can be true.
 */
final class CountDownCheck implements CallCheck
{
    /** By so much the clocks of server and workers may differ, in ns. */
    private const TOLERANCE = 5_000_000;

    /** @var list<Call> */
    private array $calls;

    public function violations(array $calls, CallHistory $history): iterable
    {
        $this->calls = $calls;
        $given = null;
        foreach ($calls as $call) {
            if ($call->result === null) {
                continue;
            }
            yield from match (true) {
                $call->answered('refused') => $this->refusal($call),
                $call->name === 'open' => $this->opened($call),
                $call->name === 'arrive' => $this->arrived($call, $given),
                $call->name === 'inspect' => $this->told($call, $call->result[0] === 'done'),
                $call->name === 'await' => $this->told($call, $call->result[0] === '1'),
                default => [],
            };
            if (self::isGiven($call)) {
                $given = $call;
            }
        }
    }

    /** @return iterable<Violation> */
    private function refusal(Call $call): iterable
    {
        $open = $this->first(static fn (Call $other): bool => $other->name === 'open' && $other->result !== null
            && $other->ended < $call->began);
        if ($open !== null && ($call->name !== 'done' || $this->hasAll($open, $call))) {
            yield new Violation(Kind::Refused, 'it was open', $open, $call);
        }
    }

    /** Whether all members had arrived before that; those before it was opened anew, as the server had forgotten, do not count. */
    private function hasAll(Call $open, Call $call): bool
    {
        $arrived = [];
        foreach ($this->calls as $other) {
            if ($other->name === 'arrive' && $other->result !== null && !$other->answered('refused') && $other->ended < $call->began) {
                $arrived[$other->arguments[0]] = true;
            }
        }

        return \count($arrived) === \count(explode(',', $open->arguments[0]));
    }

    /** @return iterable<Violation> */
    private function opened(Call $call): iterable
    {
        $other = $this->first(static fn (Call $other): bool => $other->name === 'open' && $other !== $call
            && $other->answered('1'));
        if ($call->answered('1') && $other !== null) {
            yield new Violation(Kind::Twice, 'opened twice', $other, $call);
        } elseif ($call->answered('0') && $this->first(static fn (Call $other): bool => $other->name === 'open'
            && $other->began < $call->ended && !$other->answered('0')) === null
        ) {
            yield new Violation(Kind::Untrue, 'nobody can have opened it', $call);
        }
    }

    /**
     * @param Call|null $given the last arrival before that was given the payload
     *
     * @return iterable<Violation>
     */
    private function arrived(Call $call, ?Call $given): iterable
    {
        [$member, , $claim, $total, $payload] = $call->arguments;
        [$left, $received] = $call->result ?? throw new \LogicException();
        $failed = $call->result[2] ?? '-';
        $certain = $possible = [$member => true];
        $mayHaveFailed = [];
        foreach ($this->calls as $other) {
            if ($other->name === 'arrive' && $other->began < $call->ended) {
                $possible[$other->arguments[0]] = true;
                $mayHaveFailed[$other->arguments[0]] = ($mayHaveFailed[$other->arguments[0]] ?? false)
                    || $other->arguments[1] === '1';
                if ($other->result !== null && !$other->answered('refused') && $other->ended < $call->began) {
                    $certain[$other->arguments[0]] = true;
                }
            }
        }
        $arrived = (int) $total - (int) $left;
        if ($arrived < \count($certain) || $arrived > \count($possible)) {
            yield new Violation(
                Kind::Untrue,
                sprintf('%d to %d members had arrived', \count($certain), \count($possible)),
                $call,
            );
        }
        foreach ($failed === '-' ? [] : explode(',', $failed) as $name) {
            if (!($mayHaveFailed[$name] ?? false)) {
                yield new Violation(Kind::Untrue, "$name has not failed", $call);
            }
        }
        if (!self::isGiven($call)) {
            if ($left === '0' && $payload !== '-' && !$this->mayBeTaken($call)) {
                yield new Violation(Kind::Refused, 'the last step is nobody\'s', $given, $call);
            }

            return;
        }
        if ($received !== $payload || $left !== '0') {
            yield new Violation(Kind::Untrue, "the payload is $payload, for the last one", $call);
        }
        if ($given !== null && $call->ended + self::TOLERANCE < $given->began + (int) $given->arguments[2] * 1_000_000) {
            yield new Violation(Kind::Twice, 'the last step was given away while it was claimed', $given, $call);
        }
        $done = $this->doneBefore($call);
        if ($done !== null) {
            yield new Violation(Kind::Twice, 'the last step was given away when it was done', $done, $call);
        }
    }

    /** Whether the last step may be another process's at that time, or done. */
    private function mayBeTaken(Call $call): bool
    {
        return $this->first(static fn (Call $other): bool => $other !== $call && $other->began < $call->ended && (
            self::isDone($other) || $other->name === 'arrive' && ($other->result === null || self::isGiven($other))
                && $other->ended + (int) $other->arguments[2] * 1_000_000 + self::TOLERANCE >= $call->began
        )) !== null;
    }

    /** @return iterable<Violation> */
    private function told(Call $call, bool $isDone): iterable
    {
        $isPlain = $this->first(static fn (Call $other): bool => $other->name === 'open'
            && $other->arguments[1] !== '-') === null;
        $done = $this->doneBefore($call);
        if (!$isDone && $done !== null) {
            yield new Violation(Kind::Back, 'it was done', $done, $call);
        }
        if ($isDone && !$isPlain && $this->first(static fn (Call $other): bool => self::isDone($other)
            && $other->began < $call->ended) === null
        ) {
            yield new Violation(Kind::Untrue, 'nobody can have done it', $call);
        }
    }

    /** The call that has ended it before; one on a count-down that the server has forgotten changes nothing. */
    private function doneBefore(Call $call): ?Call
    {
        return $this->first(fn (Call $done): bool => self::isDone($done) && $done->result !== null
            && $done->ended < $call->began
            && $this->first(static fn (Call $open): bool => $open->name === 'open' && $open->result !== null
                && $open->ended < $done->began) !== null);
    }

    private static function isGiven(Call $call): bool
    {
        return $call->name === 'arrive' && !$call->answered('refused') && ($call->result[1] ?? '-') !== '-';
    }

    private static function isDone(Call $call): bool
    {
        return $call->name === 'done' && !$call->answered('refused');
    }

    /** @param \Closure(Call): bool $is */
    private function first(\Closure $is): ?Call
    {
        foreach ($this->calls as $call) {
            if ($is($call)) {
                return $call;
            }
        }

        return null;
    }
}
