<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * The records of one worker, understood. The words, each followed by the time:
 *
 *   worker    KIND PID TRAITS            the first record; traits of Teller, separated by commas, or -
 *   try       N LOCK RESOURCE MODE try|wait|MS TTL   is about to call acquire() or acquireRead(), which
 *             waits without a time-out, or for so many ms; TTL in ms; N counts the attempts, LOCK is the N at
 *             which this Lock object was new. MODE: x, s; of a semaphore WEIGHT/LIMIT; of a multi-lock m, and RESOURCE
 *             is a+b+c with their modes, x or s: a:x+b:s+c:s
 *   granted   N TOKEN                    it returned true; the fencing token or -; of a multi-lock several, with +
 *   conflict  N                          it returned false
 *   failed    N EXCEPTION                it threw: unknown
 *   held      N                          at that time the hold of attempt N was still certain
 *   renew     N, renewed N, unrenewed N EXCEPTION   around refresh()
 *   lost      N                          was told that it has the lock no more
 *   gone      N                          of a lock that is kept: it is not certain any more by then
 *   told      LOCK REASON                the same, by onLost()
 *   release   N, released N, unreleased N EXCEPTION  around release()
 *   drop      N, dropped N               around the end of the Lock object that releases it
 *   abandon   N                          lets the lock expire
 *   fork                                 had a child, which exited at once
 *   aside, back                          around what it does with its second hand meanwhile
 *   end                                  has ended by itself
 *
 * A worker has one Lock object at a time; a second one is told of in a story of its own, see Faults.
 */
final class Story
{
    /** For so long a lock may be a waiter's that does not know it, in ns: the claim window. */
    public const CLAIM = 1_000_000_000;
    /** After so long a server looks whether the client lives that waits in a session, in ns. */
    private const SESSION_CHECK = 1_000_000_000;
    /** So long a hold may last beyond its TTL that ends with a whole second, in ns. */
    private const SECOND = 1_000_000_000;
    /** The same in a table: in PostgreSQL half a second more. */
    private const ROW = 1_500_000_000;
    /** By so much a server may err that counts in milliseconds, in ns. */
    private const ROUNDING = 5_000_000;
    /** A wait of this length, in ns, must have asked the store, and got an answer, more than once. */
    private const LONG_WAIT = 100_000_000;

    private ?Teller $teller = null;

    /** What is being tried. */
    private ?Hold $attempt = null;

    /** @var array<int, Hold> what the current Lock object may hold, by the attempts' numbers */
    private array $open = [];

    /** Whether a Lock object has thrown since the last answer: the server may not know yet that it is without it. */
    private bool $troubled = false;

    /** When the server answered last; null: not since an exception, so that there may be no session. */
    private ?int $answered = null;

    /** Whether the second hand is at work. */
    private bool $aside = false;

    /** Since when refresh() is under way. */
    private ?int $renewing = null;

    /** When the last refresh() was called that has renewed something. */
    private int $renewed = 0;

    /** @var list<Hold> released by destructors that did not wait */
    private array $sent = [];

    /** @var list<Hold|Conflict|Unfounded> what is known to the end */
    private array $told = [];

    private function __construct(private readonly string $name, private readonly Faults $faults)
    {
    }

    /**
     * What the worker held or may have held, what was refused, and what it cannot have held, each when all
     * is known about it.
     *
     * @return \Generator<int, Hold|Conflict|Unfounded, void, Teller>
     */
    public static function read(string $file, Faults $faults): \Generator
    {
        $story = new self(basename($file, '.' . History::EXTENSION), $faults);
        foreach (Lines::of($file) as $number => $record) {
            try {
                $story->hear($record, $number);
            } catch (\Throwable $e) {
                throw new \UnexpectedValueException("$file, line $number: {$e->getMessage()}", 0, $e);
            }
            yield from $story->tellOut();
        }
        if ($story->teller === null) {
            // Killed before its first record.
            return new Teller($story->name, '-', 0, 0, []);
        }
        $teller = $story->teller;
        $story->finish($teller, $faults->deathOf($story->name) ?? $teller->end);
        yield from $story->tellOut();

        return $teller;
    }

    /** @return \Generator<int, Hold|Conflict|Unfounded> */
    private function tellOut(): \Generator
    {
        foreach ($this->told as $what) {
            if ($what instanceof Hold && $what->isKept()) {
                $this->endByStop($what);
            }
            yield $what;
        }
        $this->told = [];
    }

    /** A worker that stood still for longer than its lock's TTL has renewed nothing since then. */
    private function endByStop(Hold $hold): void
    {
        foreach ($this->faults->stopsOf($this->name) as [$from, $until]) {
            $end = $this->expiry($hold, $from + Faults::AFTERMATH);
            if ($hold->granted <= $from && $end < $until && !$this->faults->wasSilent($from - $hold->ttl, $from)) {
                $hold->possibleUntil = min($hold->possibleUntil, $end);
            }
        }
    }

    /** @param list<string> $record */
    private function hear(array $record, int $line): void
    {
        $time = (int) $record[1];
        $number = (int) ($record[2] ?? 0);
        if ($record[0] === 'worker') {
            $this->teller = new Teller($this->name, $record[2], (int) $record[3], $time, explode(',', $record[4]));

            return;
        }
        $teller = $this->teller ?? throw new \UnexpectedValueException('the first record must be "worker"');
        $teller->end = $time;
        match ($record[0]) {
            'try' => $this->begin($teller, $time, $record),
            'granted' => $this->grant($teller, $time, $record[3]),
            'conflict' => $this->conflict($teller, $time),
            'failed' => $this->fail($teller, $time, $record[3]),
            'held' => $this->confirm($teller, $time, $number, $line, implode(' ', $record)),
            'gone' => $this->notice($teller, $time, $number, $line, implode(' ', $record)),
            'told' => $this->tell($teller, $time, $record, $line),
            'renew' => $this->beginRenewal($teller, $time),
            'renewed' => $this->renew($time, true),
            'unrenewed' => $this->failToRenew($time),
            'lost' => $this->lose($teller, $time),
            'release' => $this->leave($time, $teller->released),
            'drop' => $this->leave($time, $teller->dropped),
            'abandon' => $this->abandon($teller, $time),
            'fork' => ++$teller->forks,
            'aside' => $this->aside = true,
            'back' => $this->aside = false,
            'released' => $this->close($time),
            'dropped' => $this->drop($teller, $time),
            'unreleased' => $this->abandonOpen($teller, $time),
            'end' => $this->finish($teller, $time),
            default => throw new \UnexpectedValueException("no record: \"$record[0]\""),
        };
    }

    /** Whether it need not make one first, which may take longer than it is to wait. */
    private function hadSession(int $time): bool
    {
        return $this->answered !== null && !$this->faults->cutBetween($this->name, $this->answered, $time);
    }

    /** @param list<string> $record */
    private function begin(Teller $teller, int $time, array $record): void
    {
        [, , $number, $lock, $resource, $mode, $waits, $ttl] = $record;
        if ($this->open !== [] && end($this->open)->lock !== (int) $lock) {
            $this->abandonOpen($teller, $time);
        }
        if (++$teller->attempts === 1) {
            $teller->lastGrant = $time;
        }
        $this->attempt = new Hold(
            $teller,
            (int) $number,
            (int) $lock,
            $resource,
            $mode === 'x',
            match ($waits) {
                'try' => 0,
                'wait' => Hold::ENDLESS,
                default => (int) $waits * 1_000_000,
            },
            $time,
            (int) $ttl * 1_000_000,
        );
        if (str_contains($mode, '/')) {
            [$this->attempt->weight, $this->attempt->limit] = array_map('intval', explode('/', $mode));
        } elseif ($mode === 'm') {
            $this->attempt->isOfSeveral = true;
            foreach (explode('+', $resource) as $member) {
                $this->attempt->modes[substr($member, 0, -2)] = str_ends_with($member, ':x');
            }
        }
    }

    /** @param int $time when it ended */
    private function attempt(int $time): Hold
    {
        $attempt = $this->attempt ?? throw new \UnexpectedValueException('nothing was tried');
        $this->attempt = null;
        $attempt->ended = $time;

        return $attempt;
    }

    private function grant(Teller $teller, int $time, string $tokens): void
    {
        $hold = $this->attempt($time);
        if ($hold->isOfSeveral) {
            $hold->tokens = array_map(self::token(...), explode('+', $tokens));
        }
        $token = $hold->isOfSeveral ? null : self::token($tokens);
        $this->confirmSent($time, $hold->resource);
        $teller->longestWait = max($teller->longestWait, $time - $teller->lastGrant);
        $teller->lastGrant = $time;
        $hold->exclusive ? ++$teller->exclusive : ++$teller->shared;
        $hold->granted = $hold->certainUntil = $hold->saidUntil = $time;
        $hold->token = $token;
        // Renewals in the background are not recorded: see endRenewal().
        $hold->possibleUntil = $hold->isKept() ? \PHP_INT_MAX : $this->expiry($hold, $time);
        foreach ($this->open as $number => $before) {
            if ($token !== null && $before->token === $token && $before->exclusive && $hold->exclusive) {
                // The same hold, acquired once more.
                $before->possibleUntil = $hold->possibleUntil;
                unset($this->open[$number]);
                $this->open[$hold->number] = $before;

                return;
            }
            // Another mode has taken its place.
            $this->endBy($before, $time);
            $this->told[] = $before;
            unset($this->open[$number]);
        }
        if ($hold->isChange()) {
            ++$teller->changes;
        }
        $this->open[$hold->number] = $hold;
    }

    private static function token(string $token): ?int
    {
        return $token === '-' ? null : (int) $token;
    }

    private function conflict(Teller $teller, int $time): void
    {
        $hold = $this->attempt($time);
        $hold->refused = true;
        ++$teller->conflicts;
        // A store that first acquires the lock and then sets the TTL may have been too late for that, without a refusal.
        $late = $teller->has(Teller::TWO_STEPS) && $time - $hold->tried >= $hold->ttl;
        // A waiter may have got it at the last moment, and released it; or no answer in time.
        $unheard = $hold->waits() && ($time - $hold->tried < self::LONG_WAIT
            || $this->faults->hindered($this->name, $hold->tried, $time)
            || ($teller->has(Teller::SESSION) && !$this->hadSession($time)));
        // Without grants by a majority the lock is refused, also when members do not answer.
        $unheard = $unheard || ($teller->has(Teller::VOTES) && $this->faults->wasSilent($hold->tried, $time));
        if (!$unheard) {
            $this->confirmSent($time, $hold->resource);
        }
        if ($teller->has(Teller::VOTES)) {
            // Some members may have granted it, which keeps others from their majority until it is given back there.
            $hold->possibleUntil = $this->expiry($hold, $time);
            $this->endBy($hold, $time);
            $this->told[] = $hold;
        } elseif ($hold->isOfSeveral) {
            // It had some of its members, and has given them back.
            $hold->possibleUntil = $this->expiry($hold, $time + ($hold->waits() ? self::CLAIM : 0) + Faults::AFTERMATH);
            $this->sent[] = $hold;
        } elseif ($hold->waits() && $teller->has(Teller::LATE_RELEASE) && !$teller->has(Teller::SESSION)) {
            // So does the end of a wait: it is not confirmed yet that it takes nothing any more.
            $hold->possibleUntil = $this->expiry($hold, $time + Faults::AFTERMATH);
            $this->sent[] = $hold;
        } elseif ($late || $hold->waits() || $teller->has(Teller::SINGLY)) {
            $hold->possibleUntil = $time;
            $this->told[] = $hold;
        }
        if (!$late && !$unheard && !$teller->has(Teller::HIDES_ERRORS)) {
            $this->told[] = new Conflict($hold, $time);
        }
    }

    private function fail(Teller $teller, int $time, string $exception): void
    {
        $this->troubled = true;
        $this->answered = null;
        $teller->failures[$exception] = ($teller->failures[$exception] ?? 0) + 1;
        $hold = $this->attempt($time);
        $hold->possibleUntil = $this->expiry($hold, $time + Faults::AFTERMATH);
        foreach ($this->open as $before) {
            // The Lock object cannot be trusted with it any more.
            $before->possibleUntil = max($before->possibleUntil, $hold->possibleUntil);
        }
        $this->open[$hold->number] = $hold;
    }

    private function confirm(Teller $teller, int $time, int $number, int $line, string $record): void
    {
        $hold = $this->open[$number] ?? null;
        if (
            $hold?->granted === null || $time < $hold->granted || $hold->releasing !== null
            || ($hold->gone !== null && $time > $hold->gone && !$hold->regained)
        ) {
            $this->told[] = new Unfounded($teller, $line, $record, $hold);
        } else {
            $hold->certainUntil = $hold->saidUntil = max($hold->certainUntil, $time);
        }
    }

    private function notice(Teller $teller, int $time, int $number, int $line, string $record): void
    {
        $hold = $this->open[$number] ?? null;
        if ($hold === null || !$hold->isKept() || $hold->noticed) {
            $this->told[] = new Unfounded($teller, $line, $record, $hold);

            return;
        }
        $hold->noticed = true;
        $this->noteLoss($hold, $time);
    }

    /** @param list<string> $record */
    private function tell(Teller $teller, int $time, array $record, int $line): void
    {
        [, , $lock, $reason] = $record;
        $hold = end($this->open) ?: null;
        if (
            $hold === null || $hold->lock !== (int) $lock || !$hold->isKept()
            || ($hold->told !== null && !$hold->regained)
        ) {
            $this->told[] = new Unfounded($teller, $line, implode(' ', $record), $hold);

            return;
        }
        $hold->told = strtr($reason, '_', ' ');
        $hold->wasChanging = $hold->gone === null && $this->attempt?->lock === (int) $lock;
        $hold->wasRenewing = $hold->gone === null && $this->renewing !== null;
        $this->noteLoss($hold, $time);
    }

    /** A kept lock is known to be lost by that time: nothing renews it any more. */
    private function noteLoss(Hold $hold, int $time): void
    {
        $hold->gone ??= $time;
        $this->endRenewal($hold, $time);
    }

    private function beginRenewal(Teller $teller, int $time): void
    {
        ++$teller->renewals;
        $this->renewing = $time;
    }

    /** @param int $time when the renewing command was carried out at the latest */
    private function renew(int $time, bool $isKnown): void
    {
        [$begun, $before] = [$this->renewing ?? $time, $this->renewed];
        [$this->renewing, $this->renewed] = [null, $begun];
        foreach ($this->open as $number => $hold) {
            if ($isKnown && $hold->worker->has(Teller::REVIVES) && $time > max($hold->tried, $before) + $hold->ttl) {
                $this->told[] = $hold;
                $hold = $this->open[$number] = $hold->revived($begun, $time);
            }
            $hold->possibleUntil = max($hold->possibleUntil, $this->expiry($hold, $time));
            $hold->regained = $isKnown && $hold->wasRenewing;
        }
    }

    private function failToRenew(int $time): void
    {
        $this->troubled = true;
        $this->renew($time + Faults::AFTERMATH, false);
    }

    private function lose(Teller $teller, int $time): void
    {
        ++$teller->lost;
        $this->renewing = null;
        foreach ($this->open as $hold) {
            if ($hold->isKept()) {
                $this->noteLoss($hold, $time);
            }
            $hold->releasing = $time;
            $this->endBy($hold, $time);
        }
    }

    /** @param int $count of such endings */
    private function leave(int $time, int &$count): void
    {
        ++$count;
        foreach ($this->open as $hold) {
            $hold->releasing ??= $time;
            $this->endRenewal($hold, $time);
        }
    }

    private function abandon(Teller $teller, int $time): void
    {
        $this->leave($time, $teller->abandoned);
        $this->abandonOpen($teller, $time);
    }

    private function abandonOpen(Teller $teller, int $time): void
    {
        foreach ($this->open as $hold) {
            $this->endRenewal($hold, $time);
        }
        if ($teller->has(Teller::SESSION)) {
            // It ends with the Lock object, or with the session that no process has any more.
            $this->troubled = true;
            $this->send();
        } else {
            $this->close(null);
        }
    }

    /** @param int|null $time when the lock was certainly not held any more; null: when it expires */
    private function close(?int $time): void
    {
        foreach ($this->open as $hold) {
            if ($time !== null) {
                $late = $this->troubled && $hold->worker->has(Teller::SESSION) ? Faults::AFTERMATH : 0;
                $this->endBy($hold, $time + $late);
            }
            $this->told[] = $hold;
        }
        $this->open = [];
    }

    private function drop(Teller $teller, int $time): void
    {
        if (!$teller->has(Teller::LATE_RELEASE)) {
            $this->close($time);

            return;
        }
        $this->send();
    }

    private function send(): void
    {
        array_push($this->sent, ...array_values($this->open));
        $this->open = [];
    }

    /**
     * The server has answered at that time, after all that was sent to it before; unless that was cut off.
     *
     * @param string $resource that it was asked about
     */
    private function confirmSent(int $time, string $resource): void
    {
        $this->answered = $time;
        $elsewhere = [];
        foreach ($this->sent as $hold) {
            if ($hold->worker->has(Teller::SCATTERED) && $hold->resource !== $resource) {
                $elsewhere[] = $hold;
                continue;
            }
            $cut = $this->faults->cutBetween($this->name, (int) ($hold->releasing ?? $hold->ended), $time);
            if ($hold->worker->has(Teller::SESSION)) {
                // A worker that lost the session has another one by now.
                $late = $cut || $this->troubled ? Faults::AFTERMATH : 0;
                $hold->possibleUntil = min($hold->possibleUntil, $time + $late);
            } elseif (!$cut) {
                $this->endBy($hold, $time);
            }
            $this->told[] = $hold;
        }
        $this->sent = $elsewhere;
        $this->troubled = false;
    }

    /** @param int $death when the worker was seen dead, or had nothing more to tell */
    private function finish(Teller $teller, int $death): void
    {
        $teller->longestWait = max($teller->longestWait, $teller->end - $teller->lastGrant);
        // What was sent before the end may be carried out after it.
        $late = $this->attempt !== null || $this->renewing;
        if ($this->attempt !== null) {
            $this->attempt->ended = $this->faults->killOf($this->name) ?? $death;
            $teller->last = $this->attempt;
            $this->open[$this->attempt->number] = $this->attempt;
            $this->attempt = null;
        }
        foreach ([...$this->open, ...$this->sent] as $hold) {
            if ($teller->has(Teller::SESSION)) {
                $waits = $this->aside || ($hold->granted === null && $hold->waits());
                $hold->possibleUntil = $death + ($waits ? self::SESSION_CHECK : 0) + Faults::AFTERMATH;
            } elseif (!$teller->has(Teller::EXPIRING)) {
                $hold->possibleUntil = $death;
            } elseif ($hold->isKept()) {
                $this->endRenewal($hold, $death);
            } elseif ($late) {
                $hold->possibleUntil = $this->expiry($hold, $death + Faults::AFTERMATH);
            }
            $this->told[] = $hold;
        }
        $this->open = $this->sent = [];
    }

    /**
     * It was given back by that time, or never got. Of several servers one may not have heard of it that had
     * trouble meanwhile, or has been slow.
     */
    private function endBy(Hold $hold, int $time): void
    {
        if (!$hold->worker->has(Teller::VOTES)) {
            $hold->possibleUntil = min($hold->possibleUntil, $time);
        } elseif (!$this->faults->hindered($this->name, $hold->tried, $time)) {
            $hold->possibleUntil = min($hold->possibleUntil, $time + Faults::AFTERMATH);
        }
    }

    /** A kept lock is not renewed any more from that time on, but by what was sent before that. */
    private function endRenewal(Hold $hold, int $time): void
    {
        if ($hold->isKept()) {
            $silent = $this->faults->hinderedUntil(Faults::ALL, $time - $hold->ttl, $time) ?? $time;
            $end = $this->expiry($hold, max($time, $silent) + Faults::AFTERMATH);
            $hold->possibleUntil = min($hold->possibleUntil, $end);
        }
    }

    /** When a hold ends by itself that was got or renewed at that time at the latest. */
    private function expiry(Hold $hold, int $time): int
    {
        if ($hold->worker->has(Teller::EXPIRING)) {
            $unclaimed = $hold->granted === null && $hold->waits();

            return $time + ($unclaimed ? max($hold->ttl, self::CLAIM) : $hold->ttl) + self::ROUNDING
                + $this->remainder($hold->worker);
        }

        // The kernel's locks end with the process at the latest, see finish().
        return \PHP_INT_MAX;
    }

    /** For how long its holds may last beyond their TTL. */
    private function remainder(Teller $teller): int
    {
        return match (true) {
            !$teller->has(Teller::WHOLE_SECONDS) => 0,
            $teller->has(Teller::TTL_IN_SECONDS) => self::ROW,
            default => self::SECOND,
        };
    }
}
