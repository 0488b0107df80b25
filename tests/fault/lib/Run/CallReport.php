<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Fault\Check\Calls\CallFindings;
use Latch\Tests\Fault\Record\CallHistory;
use Latch\Tests\Fault\Record\Fault;

/**
 * What was called in a history, what came of it, and what is wrong with it, as text.
 */
final class CallReport
{
    public function __construct(private readonly CallHistory $history, private readonly CallFindings $findings)
    {
    }

    public function text(): string
    {
        $counts = $exceptions = [];
        foreach ($this->history->calls as $call) {
            $counts[$call->name] ??= ['answered' => 0, 'killed' => 0, 'exception' => 0];
            ++$counts[$call->name][match (true) {
                $call->result !== null => 'answered',
                $call->exception !== null => 'exception',
                default => 'killed',
            }];
            if ($call->exception !== null) {
                $name = preg_replace(['/"[^"]*"/', '/\d+\.[\d.:]*$/'], '…', $call->exception);
                $exceptions[$name] = ($exceptions[$name] ?? 0) + 1;
            }
        }
        ksort($counts);
        $eras = max([0, ...array_map(array_key_last(...), $this->history->eras)]) + 1;
        $text = $this->row('workers', \count($this->history->workers)) . $this->row('forked', $this->history->forks)
            . $this->row('resources', \count($this->history->eras)) . $this->row('eras', $eras)
            . $this->row('', 'answered', 'killed', 'exception');
        foreach ($counts as $name => $numbers) {
            $text .= $this->row("$name()", ...array_values($numbers));
        }
        foreach ($exceptions as $name => $count) {
            $text .= "$count x " . strtr($name, '_', ' ') . "\n";
        }
        $text .= "\n";
        foreach (Fault::cases() as $fault) {
            if (isset($this->history->faults->counts[$fault->value])) {
                $text .= $this->row($fault->text(), $this->history->faults->counts[$fault->value]);
            }
        }

        return "$text\n" . $this->findings->text($this->history->start);
    }

    private function row(string $name, int|string ...$values): string
    {
        return rtrim(sprintf('%-28s', $name) . implode('', array_map(
            static fn (int|string $value): string => sprintf('%12s', $value),
            $values,
        ))) . "\n";
    }
}
