<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check\Calls;

use Latch\Tests\Fault\Check\Kind;
use Latch\Tests\Fault\Check\Violation;
use Latch\Tests\Fault\Record\Call;
use Latch\Tests\Fault\Record\CallHistory;

/**
 * Versions: what was accepted, and was not reverted, is never followed by the same one or an older one; none is accepted
 * twice; one is refused, or said to be outdated, only if another one may have been accepted that is as new; and the
 * newest that is told was accepted, and is no older than those before.
 *
 * A version for which revert() was called, whatever came of that, binds nobody: it may come again.
 */
final class VersionCheck implements CallCheck
{
    public function violations(array $calls, CallHistory $history): iterable
    {
        $reverted = [];
        foreach ($calls as $call) {
            if ($call->name === 'revert') {
                $reverted[$call->arguments[0]] = true;
            }
        }
        yield from $this->back($calls, $reverted);
        yield from $this->twice($calls, $reverted);
        yield from $this->unfounded($calls, $history);
    }

    /**
     * @param list<Call>              $calls
     * @param array<int|string, true> $reverted
     *
     * @return iterable<Violation>
     */
    private function back(array $calls, array $reverted): iterable
    {
        $accepted = array_values(array_filter(
            $calls,
            static fn (Call $call): bool => self::isAccepted($call) && !isset($reverted[$call->arguments[0]]),
        ));
        usort($accepted, static fn (Call $a, Call $b): int => $a->ended <=> $b->ended);
        $floor = null; // the newest one that was accepted before the call began
        $next = 0;
        foreach ($calls as $call) {
            for (; isset($accepted[$next]) && $accepted[$next]->ended < $call->began; ++$next) {
                if ($floor === null || self::compare($accepted[$next]->arguments[0], $floor->arguments[0]) > 0) {
                    $floor = $accepted[$next];
                }
            }
            if ($floor === null || $call->result === null) {
                continue;
            }
            $version = $call->name === 'get' ? $call->result[0] : $call->arguments[0];
            $order = $version === '-' ? -1 : self::compare($version, $floor->arguments[0]);
            $isBack = match ($call->name) {
                'advance' => self::isAccepted($call) && ($order < 0 || $order === 0 && $call->arguments[1] === '0'),
                'outdated' => $call->answered('0') && $order < 0,
                'get' => $order < 0,
                default => false,
            };
            if ($isBack) {
                yield new Violation(Kind::Back, "$call->name() goes behind what was accepted", $floor, $call);
            }
        }
    }

    /**
     * @param list<Call>              $calls
     * @param array<int|string, true> $reverted
     *
     * @return iterable<Violation>
     */
    private function twice(array $calls, array $reverted): iterable
    {
        $first = [];
        foreach ($calls as $call) {
            $version = $call->arguments[0] ?? '';
            if (self::isAccepted($call) && $call->arguments[1] === '0' && !isset($reverted[$version])) {
                if (isset($first[$version])) {
                    yield new Violation(Kind::Twice, 'the same version was accepted twice', $first[$version], $call);
                }
                $first[$version] = $call;
            }
        }
    }

    /**
     * @param list<Call> $calls
     *
     * @return iterable<Violation>
     */
    private function unfounded(array $calls, CallHistory $history): iterable
    {
        $advances = array_values(array_filter(
            $calls,
            static fn (Call $call): bool => $call->name === 'advance' && ($call->result === null || self::isAccepted($call)),
        ));
        $came = [];
        foreach ($advances as $advance) {
            $came[$advance->arguments[0]] ??= $advance->began;
        }
        $answers = array_filter($calls, static fn (Call $call): bool => $call->result !== null);
        usort($answers, static fn (Call $a, Call $b): int => $a->ended <=> $b->ended);
        $newest = null;
        $next = 0;
        foreach ($answers as $call) {
            for (; isset($advances[$next]) && $advances[$next]->began < $call->ended; ++$next) {
                $version = $advances[$next]->arguments[0];
                $newest = $newest === null || self::compare($version, $newest) > 0 ? $version : $newest;
            }
            if ($call->answered('refused')) {
                yield new Violation(Kind::Refused, 'an exception', $call);
            } elseif ($call->name === 'get') {
                $version = $call->result[0] ?? '-';
                if ($version !== '-' && ($came[$version] ?? \PHP_INT_MAX) >= $call->ended) {
                    yield new Violation(Kind::Untrue, 'nobody has brought it', $call);
                }
            } elseif ($this->isRefusal($call)) {
                $order = $newest === null ? -1 : self::compare($newest, $call->arguments[0]);
                $isSameEnough = $call->name === 'advance' && $call->arguments[1] === '0';
                // A request that is sent again finds itself, but not behind others' changes.
                if (($order < 0 || $order === 0 && !$isSameEnough) && !$history->wasHindered($call)) {
                    yield new Violation(Kind::Refused, 'nobody can have brought one that is as new', $call);
                }
            }
        }
    }

    private function isRefusal(Call $call): bool
    {
        return $call->name === 'advance' && $call->answered('0') || $call->name === 'outdated' && $call->answered('1');
    }

    private static function isAccepted(Call $call): bool
    {
        return $call->name === 'advance' && $call->answered('1');
    }

    /** Numbers of any length, without sign and leading zeros. */
    private static function compare(string $a, string $b): int
    {
        return \strlen($a) <=> \strlen($b) ?: strcmp($a, $b);
    }
}
