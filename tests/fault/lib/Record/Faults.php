<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * What was done to the workers and their server, and how the workers ended.
 *
 * Its file has a record for each fault, with the worker's name where it struck one, and "ended TIME NAME
 * HOW" for each worker: "exit-0", "signal-9", "hung" …
 */
final class Faults
{
    public const FILE = 'faults';

    /** @var array<string, int> how often, by the faults' values */
    public array $counts = [];

    /** What a fault hinders may go on for so long after it, in ns. */
    public const AFTERMATH = 250_000_000;

    /** @var list<int> when connections were cut, ascending */
    private array $cuts = [];

    /** @var list<int> when the server paused, ascending */
    private array $pauses = [];

    /** @var array<string, list<array{int, int}>> from when until when workers were stopped, by their names */
    private array $stops = [];

    /** @var array<string, int> when workers were seen dead, by their names */
    private array $deaths = [];

    /** @var array<string, string> how workers ended that should not have ended so, by their names */
    public array $crashes = [];

    public static function read(string $directory): self
    {
        $faults = new self();
        $killed = [];
        if (!is_file("$directory/" . self::FILE)) {
            return $faults;
        }
        foreach (Lines::of("$directory/" . self::FILE) as $record) {
            [$word, $time, $worker] = [$record[0], (int) $record[1], $record[2] ?? ''];
            if ($word === 'ended') {
                $faults->deaths[$worker] = $time;
                if ($record[3] !== (isset($killed[$worker]) ? 'signal-9' : 'exit-0')) {
                    $faults->crashes[$worker] = $record[3];
                }
                continue;
            }
            $faults->counts[$word] = ($faults->counts[$word] ?? 0) + 1;
            switch (Fault::from($word)) {
                case Fault::Kill:
                    $killed[$worker] = true;
                    break;
                case Fault::Stop:
                    $faults->stops[$worker][] = [$time, \PHP_INT_MAX];
                    break;
                case Fault::Continue:
                    $faults->stops[$worker][\count($faults->stops[$worker] ?? []) - 1][1] = $time;
                    break;
                case Fault::ClientKill:
                    $faults->cuts[] = $time;
                    break;
                case Fault::ClientPause:
                    $faults->pauses[] = $time;
                    break;
                case Fault::ScriptFlush:
                    break;
            }
        }

        return $faults;
    }

    /** When the worker was seen dead; null when nobody looked. */
    public function deathOf(string $worker): ?int
    {
        return $this->deaths[$worker] ?? null;
    }

    /** Whether what was sent between these times may have been cut off. */
    public function cutBetween(int $from, int $until): bool
    {
        return self::isBetween($this->cuts, $from - self::AFTERMATH, $until);
    }

    /** Whether the worker may have got no answer between these times. */
    public function hindered(string $worker, int $from, int $until): bool
    {
        foreach ($this->stops[$worker] ?? [] as [$stop, $continue]) {
            if ($stop <= $until && $continue >= $from) {
                return true;
            }
        }

        return $this->cutBetween($from, $until) || self::isBetween($this->pauses, $from - self::AFTERMATH, $until);
    }

    /** @param list<int> $times ascending */
    private static function isBetween(array $times, int $from, int $until): bool
    {
        [$low, $high] = [0, \count($times)];
        while ($low < $high) {
            $middle = intdiv($low + $high, 2);
            $times[$middle] < $from ? $low = $middle + 1 : $high = $middle;
        }

        return isset($times[$low]) && $times[$low] <= $until;
    }
}
