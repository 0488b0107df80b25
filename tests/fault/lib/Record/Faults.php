<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * What was done to the workers and their server, and how the workers ended.
 *
 * Its file has a record for each fault, when it began, with the worker's name where it struck one, else "-",
 * and when it was over where that took time, and which member of a quorum it was, or, where a master of several was
 * replaced, which locks it had: "a,b"; and "ended TIME NAME HOW" for
 * each worker: "exit-0", "signal-9", "hung" … What strikes a worker strikes its second hand, too, which has a name of its own.
 */
final class Faults
{
    public const FILE = 'faults';

    /** @var array<string, int> how often, by the faults' values */
    public array $counts = [];

    /** @var list<array{Fault, int, string}> which, when and whom, of those that struck one worker */
    public array $strikes = [];

    /** What a fault hinders may go on for so long after it, in ns. */
    public const AFTERMATH = 250_000_000;

    /** In place of a worker's name: it was about all of them. */
    public const ALL = '-';

    /** Behind the worker's name: what the same process did with a second Lock object at that time. */
    public const SECOND_HAND = '+';

    /** @var array<string, Spans> when connections were cut, by the workers' names */
    private array $cuts = [];

    /** @var array<string, Spans> when workers may have got no answers, by their names */
    private array $hindrances = [];

    /** @var array<string, list<array{int, int}>> when nothing was sent, or nothing answered, by the workers' names */
    private array $silences = [];

    /** @var array<string, Spans> when locks may not have been renewed, by the workers' names */
    private array $standstills = [];

    /** @var array<int, Spans> when members of a quorum were in trouble, by their numbers */
    private array $troubles = [];

    /** @var list<array{int, int}> before and after the server lost its data */
    public array $losses = [];

    /**
     * @var list<array{int, int, list<string>|null}> from when until when what was answered may be lost by a change of
     *                                               the master, and of which locks; null: of all
     */
    private array $switches = [];

    /** @var array<string, list<array{int, int}>> before and after sessions ended, by the workers' names */
    private array $sessionEnds = [];

    /** @var array<string, int> when workers were seen dead, by their names */
    private array $deaths = [];

    /** @var array<string, int> when workers were killed, by their names */
    private array $kills = [];

    /** @var array<string, string> how workers ended that should not have ended so, by their names */
    public array $crashes = [];

    public static function read(string $directory): self
    {
        $faults = new self();
        if (is_file("$directory/" . self::FILE)) {
            $stops = [];
            foreach (Lines::of("$directory/" . self::FILE) as $record) {
                [$word, $time, $worker] = [$record[0], (int) $record[1], $record[2] ?? self::ALL];
                if ($word === 'ended') {
                    $faults->bury($worker, $time, $record[3]);
                } else {
                    $fault = Fault::from($word);
                    $faults->note($fault, $time, (int) ($record[3] ?? $time), $worker, $stops);
                    if ($fault->switchesMaster()) {
                        $locks = isset($record[4]) ? explode(',', $record[4]) : null;
                        $faults->switches[] = [$time, (int) $record[3] + self::AFTERMATH, $locks];
                    } elseif (isset($record[4])) {
                        ($faults->troubles[(int) $record[4]] ??= new Spans())->add($time, (int) $record[3]);
                    }
                }
            }
            foreach ($stops as $worker => $time) {
                $faults->stop($worker, $time, \PHP_INT_MAX);
            }
        }

        return $faults;
    }

    /** @param array<string, int> $stops when workers were stopped that did not go on yet, by their names */
    private function note(Fault $fault, int $time, int $end, string $worker, array &$stops): void
    {
        $this->counts[$fault->value] = ($this->counts[$fault->value] ?? 0) + 1;
        if ($fault->strikesOne() && $worker !== self::ALL) {
            $this->strikes[] = [$fault, $time, $worker];
        }
        if ($fault->losesData()) {
            $this->losses[] = [$time, $end];
        }
        if ($fault->endsSessions()) {
            $this->sessionEnds[$worker][] = [$time, $end];
        }
        if ($fault->cuts()) {
            ($this->cuts[$worker] ??= new Spans())->add($time, $end + self::AFTERMATH);
        }
        if ($fault->silencesAll()) {
            $this->silences[$worker][] = [$time, $end];
        }
        if ($fault->keepsFromRenewal()) {
            ($this->standstills[$worker] ??= new Spans())->add($time, $end + self::AFTERMATH);
        }
        if ($fault->cuts() || $fault->silences()) {
            $this->hinder($worker, $time, $end + self::AFTERMATH);
        } elseif ($fault === Fault::Stall) {
            $this->hinder($worker, $time, $end);
        } elseif ($fault === Fault::Stop) {
            $stops[$worker] = $time;
        } elseif ($fault === Fault::Continue) {
            $this->stop($worker, $stops[$worker] ?? $time, $time);
            unset($stops[$worker]);
        } elseif ($fault === Fault::Kill) {
            $this->kills[$worker] = $time;
        }
    }

    private function stop(string $worker, int $from, int $until): void
    {
        $this->hinder($worker, $from, $until);
        $this->silences[$worker][] = [$from, $until];
        ($this->standstills[$worker] ??= new Spans())->add($from, $until);
    }

    private function hinder(string $worker, int $from, int $until): void
    {
        ($this->hindrances[$worker] ??= new Spans())->add($from, $until);
    }

    private function bury(string $worker, int $time, string $how): void
    {
        $this->deaths[$worker] = $time;
        if ($how !== (isset($this->kills[$worker]) ? 'signal-9' : 'exit-0')) {
            $this->crashes[$worker] = $how;
        }
    }

    /** When the worker was seen dead; null when that was not checked. */
    public function deathOf(string $worker): ?int
    {
        return $this->deaths[self::process($worker)] ?? null;
    }

    /** When the worker was killed; null: it was not. */
    public function killOf(string $worker): ?int
    {
        return $this->kills[self::process($worker)] ?? null;
    }

    /** Whether what the worker sent between these times may have been cut off. */
    public function cutBetween(string $worker, int $from, int $until): bool
    {
        return $this->lastEnd($this->cuts, $worker, $from, $until) !== null;
    }

    /** When the worker's connections were there again, at the latest, that were cut between these times; or null. */
    public function cutUntil(string $worker, int $from, int $until): ?int
    {
        return $this->lastEnd($this->cuts, $worker, $from, $until);
    }

    /** Whether the worker may have got no answer between these times. */
    public function hindered(string $worker, int $from, int $until): bool
    {
        return $this->hinderedUntil($worker, $from, $until) !== null;
    }

    /** When that was over which may have kept the worker from its work between these times; null = nothing has. */
    public function hinderedUntil(string $worker, int $from, int $until): ?int
    {
        return $this->lastEnd($this->hindrances, $worker, $from, $until);
    }

    /**
     * Interval in which the worker or its server stood still: no request from that time was answered.
     *
     * @return list<array{int, int}>
     */
    public function silencesOf(string $worker): array
    {
        return [...$this->stopsOf($worker), ...$this->silences[self::ALL] ?? []];
    }

    /** @return list<array{int, int}> from when until when the worker stood still */
    public function stopsOf(string $worker): array
    {
        return $this->silences[self::process($worker)] ?? [];
    }

    /** Whether anything between these times explains that the worker has not renewed a lock. */
    public function stoodStill(string $worker, int $from, int $until): bool
    {
        return $this->lastEnd($this->standstills, $worker, $from, $until) !== null;
    }

    /** How many members of a quorum were in trouble between these times, be it one after the other. */
    public function countTroubled(int $from, int $until): int
    {
        return \count(array_filter(
            $this->troubles,
            static fn (Spans $trouble): bool => $trouble->lastEnd($from, $until) !== null,
        ));
    }

    /** Whether there was a time between these when the server, or a majority of several, was silent. */
    public function wasSilent(int $from, int $until): bool
    {
        foreach ($this->silences[self::ALL] ?? [] as [$begin, $end]) {
            if ($begin <= $until && $end + self::AFTERMATH >= $from) {
                return true;
            }
        }

        return false;
    }

    /** @return list<array{int, int}> from when until when what was answered about the lock may be lost */
    public function switchesOf(string $resource): array
    {
        $switches = [];
        foreach ($this->switches as [$from, $until, $locks]) {
            if ($locks === null || \in_array($resource, $locks, true)) {
                $switches[] = [$from, $until];
            }
        }

        return $switches;
    }

    /** When the server forgot, at the earliest, what was tried for at that time; null: it did not. */
    public function forgotten(int $tried): ?int
    {
        foreach ($this->losses as [$before, $after]) {
            if ($tried < $after) {
                return $before;
            }
        }

        return null;
    }

    /**
     * Before and after the session ended in which the worker tried at that time; null: it did not.
     *
     * @return array{int, int}|null
     */
    public function sessionEnd(string $worker, int $tried): ?array
    {
        $first = null;
        foreach ([$this->sessionEnds[self::process($worker)] ?? [], $this->sessionEnds[self::ALL] ?? []] as $ends) {
            foreach ($ends as $end) {
                if ($tried < $end[1]) {
                    $first = $first === null ? $end : min($first, $end);
                    break;
                }
            }
        }

        return $first;
    }

    private static function process(string $worker): string
    {
        return rtrim($worker, self::SECOND_HAND);
    }

    /** @param array<string, Spans> $spans by the workers' names */
    private function lastEnd(array $spans, string $worker, int $from, int $until): ?int
    {
        $own = ($spans[self::process($worker)] ?? null)?->lastEnd($from, $until);
        $all = ($spans[self::ALL] ?? null)?->lastEnd($from, $until);

        return $own === null || $all === null ? $own ?? $all : max($own, $all);
    }
}
