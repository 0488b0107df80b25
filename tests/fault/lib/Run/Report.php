<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Fault\Check\Findings;
use Latch\Tests\Fault\Record\Fault;
use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Teller;

/**
 * What happened in a history, and what is wrong with it, as text.
 */
final class Report
{
    public function __construct(private readonly History $history, private readonly Findings $findings)
    {
    }

    public function text(): string
    {
        return implode("\n", [
            $this->workers(), $this->faults(), $this->waits() . $this->keeping(), $this->resources(),
            $this->findings->text($this->history->start),
        ]);
    }

    private function workers(): string
    {
        $kinds = [];
        foreach ($this->history->workers as $worker) {
            $kinds[$worker->kind][] = $worker;
        }
        // Killed before they recorded their kind.
        unset($kinds['-']);
        $rows = [
            'workers' => static fn (Teller $worker): int => 1,
            'attempts' => static fn (Teller $worker): int => $worker->attempts,
            'granted, exclusive' => static fn (Teller $worker): int => $worker->exclusive,
            'granted, shared' => static fn (Teller $worker): int => $worker->shared,
            '  promoted or demoted' => static fn (Teller $worker): int => $worker->changes,
            'refused' => static fn (Teller $worker): int => $worker->conflicts,
            'exceptions' => static fn (Teller $worker): int => array_sum($worker->failures),
            'refreshed' => static fn (Teller $worker): int => $worker->renewals,
            'lost, as refresh() said' => static fn (Teller $worker): int => $worker->lost,
            'released' => static fn (Teller $worker): int => $worker->released,
            'released by destructor' => static fn (Teller $worker): int => $worker->dropped,
            'forked' => static fn (Teller $worker): int => $worker->forks,
            'left to expire' => static fn (Teller $worker): int => $worker->abandoned,
        ];
        $text = $this->row('', ...array_keys($kinds));
        foreach ($rows as $name => $value) {
            $text .= $this->row($name, ...array_map(
                static fn (array $workers): string => (string) array_sum(array_map($value, $workers)),
                array_values($kinds),
            ));
        }

        return $text . $this->row('longest without any, s', ...array_map(
            static fn (array $workers): string => sprintf('%.3f', max(array_map(
                static fn (Teller $worker): int => $worker->longestWait,
                $workers,
            )) / 1e9),
            array_values($kinds),
        )) . $this->failures($kinds);
    }

    /** @param array<string, non-empty-list<Teller>> $kinds */
    private function failures(array $kinds): string
    {
        $text = '';
        foreach ($kinds as $kind => $workers) {
            $failures = [];
            foreach ($workers as $worker) {
                foreach ($worker->failures as $name => $count) {
                    $failures[$name] = ($failures[$name] ?? 0) + $count;
                }
            }
            ksort($failures);
            foreach ($failures as $name => $count) {
                $text .= sprintf("%s, %d x %s\n", $kind, $count, strtr($name, '_', ' '));
            }
        }

        return $text;
    }

    /** How often, and where it struck those whom it struck: as holders, as waiters, or elsewhere. */
    private function faults(): string
    {
        $struck = (new Strikes($this->history))->counts();
        $text = $this->row('', '', ...Strikes::PLACES);
        foreach (Fault::cases() as $fault) {
            $count = $this->history->faults->counts[$fault->value] ?? 0;
            if ($count > 0) {
                $places = array_map('strval', array_values($struck[$fault->value] ?? []));
                $text .= $this->row($fault->text(), (string) $count, ...$places);
            }
        }

        return $this->history->faults->counts === [] ? "no faults\n" : $text;
    }

    private function waits(): string
    {
        $waits = $this->findings->waits;
        $text = '';
        foreach ([
            'longest wait, s' => $waits->longest,
            'longest passed over, s' => $waits->longestPassedOver,
            'longest idle, s' => $waits->longestIdle,
        ] as $name => $time) {
            $text .= $this->row($name, sprintf('%.3f', $time / 1e9));
        }

        return $text;
    }

    private function keeping(): string
    {
        $keeping = $this->findings->keeping;
        if ($keeping->kept === 0) {
            return '';
        }

        return $this->row('kept', (string) $keeping->kept)
            . $this->row('  for longer than the TTL', (string) $keeping->outlasted)
            . $this->row('  lost', (string) $keeping->lost)
            . $this->row('  longest kept, s', sprintf('%.3f', $keeping->longest / 1e9));
    }

    private function resources(): string
    {
        $text = $this->row('', 'granted', 'longest gap, s');
        foreach ($this->history->holds as $resource => $holds) {
            $times = [];
            foreach ($holds as $hold) {
                // The probes look at the end, when all has been quiet for a while.
                if ($hold->granted !== null && !str_starts_with($hold->worker->name, Run::PROBE)) {
                    $times[] = $hold->granted;
                }
            }
            sort($times);
            $gap = 0;
            for ($i = 1; $i < \count($times); ++$i) {
                $gap = max($gap, $times[$i] - $times[$i - 1]);
            }
            $text .= $this->row($resource, (string) \count($times), sprintf('%.3f', $gap / 1e9));
        }

        return $text;
    }

    private function row(string $name, string ...$values): string
    {
        return rtrim(sprintf('%-28s', $name) . implode('', array_map(
            static fn (string $value): string => sprintf('%20s', $value),
            $values,
        ))) . "\n";
    }
}
