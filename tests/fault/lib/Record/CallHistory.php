<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * What all workers of a folder called, by resource and by era: an era ends when the server loses its data. A call at
 * such a time belongs to both eras, and it is not known what came of it; nor is it of a call that was answered while
 * another server became the master, which may not have heard of it.
 */
final class CallHistory
{
    /** @var array<string, array<int, list<Call>>> by resource and era, in the order of their beginnings */
    public array $eras = [];

    /** @var list<Call> */
    public array $calls = [];

    /** @var list<Teller> */
    public array $workers = [];

    public int $forks = 0;

    /** The earliest time, which is shown as zero. */
    public int $start = \PHP_INT_MAX;

    public readonly Faults $faults;
    public readonly Leftovers $leftovers;

    public function __construct(string $directory)
    {
        $this->faults = Faults::read($directory);
        $this->leftovers = Leftovers::read($directory);
        foreach (glob("$directory/*." . History::EXTENSION) ?: [] as $file) {
            $this->read($file);
        }
        usort($this->calls, static fn (Call $a, Call $b): int => $a->began <=> $b->began);
        $this->start = $this->calls[0]->began ?? 0;
        foreach ($this->calls as $call) {
            $this->arrange($call);
        }
    }

    /** A time as it is shown. */
    public function at(int $time): string
    {
        return sprintf('%.6f', ($time - $this->start) / 1e9);
    }

    /** Whether the worker may have had no answer, or a second try, in the call. */
    public function wasHindered(Call $call): bool
    {
        return $this->faults->hindered($call->worker->name, $call->began, $call->ended);
    }

    private function read(string $file): void
    {
        $name = basename($file, '.' . History::EXTENSION);
        $worker = $call = null;
        foreach (Lines::of($file) as $number => $record) {
            [$word, $time] = [$record[0], (int) $record[1]];
            if ($word === 'worker') {
                $this->workers[] = $worker = new Teller($name, $record[2], (int) $record[3], $time, []);
            } elseif ($worker === null) {
                throw new \UnexpectedValueException("$file, line $number: the first record must be \"worker\"");
            } elseif ($word === 'call') {
                $call = new Call($worker, (int) $record[2], $record[3], $record[4], \array_slice($record, 5), $time);
                $this->calls[] = $call;
            } elseif ($word === 'returned' || $word === 'threw') {
                if ($call?->number !== (int) $record[2]) {
                    throw new \UnexpectedValueException("$file, line $number: that was not called");
                }
                $call->ended = $time;
                if ($word === 'returned') {
                    $call->result = \array_slice($record, 3);
                } else {
                    $call->exception = $record[3];
                    $call->ended += Faults::AFTERMATH;
                }
                $call = null;
            } elseif ($word === 'fork') {
                ++$this->forks;
            } elseif ($word !== 'end') {
                throw new \UnexpectedValueException("$file, line $number: no record: \"$word\"");
            }
        }
        if ($call !== null) {
            $call->ended = ($this->faults->deathOf($name) ?? $call->began) + Faults::AFTERMATH;
        }
    }

    private function arrange(Call $call): void
    {
        $first = $last = 0;
        foreach ($this->faults->losses as [$before, $after]) {
            $first += (int) ($call->began > $after);
            $last += (int) ($call->ended >= $before);
        }
        $isDoubtful = $first !== $last;
        foreach ($this->faults->switchesOf($call->resource) as [$from, $until]) {
            $isDoubtful = $isDoubtful || $call->began <= $until && $call->ended >= $from;
        }
        for ($era = $first; $era <= $last; ++$era) {
            $this->eras[$call->resource][$era][] = $isDoubtful ? $call->doubted() : $call;
        }
    }
}
