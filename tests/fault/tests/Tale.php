<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use Latch\Tests\Fault\Check\Calls\CallFindings;
use Latch\Tests\Fault\Check\Findings;
use Latch\Tests\Fault\Check\Tally;
use Latch\Tests\Fault\Check\Violation;
use Latch\Tests\Fault\Record\Call;
use Latch\Tests\Fault\Record\CallHistory;
use Latch\Tests\Fault\Record\Fault;
use Latch\Tests\Fault\Record\Faults;
use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Hold;
use Latch\Tests\Fault\Record\Leftovers;

/**
 * A history that is written by hand: workers' records by their names, times in milliseconds.
 */
final class Tale
{
    private readonly string $directory;

    public function __construct()
    {
        $this->directory = sys_get_temp_dir() . '/latch-tale-' . bin2hex(random_bytes(6));
        mkdir($this->directory);
    }

    public function __destruct()
    {
        foreach (glob("$this->directory/*") ?: [] as $file) {
            unlink($file);
        }
        rmdir($this->directory);
    }

    /**
     * @param string $records separated by "|", each a word, the time and the rest
     * @param string $traits  of Teller, separated by commas
     */
    public function tell(string $worker, string $records, string $traits = 'expiring,fencing'): self
    {
        $this->write("$worker." . History::EXTENSION, "worker 0 test 1 $traits | $records");

        return $this;
    }

    public function faults(string $records): self
    {
        $this->write(Faults::FILE, $records);

        return $this;
    }

    public function leftovers(string $records): self
    {
        $this->write(Leftovers::FILE, $records);

        return $this;
    }

    /** Appends a text as it is. */
    public function scrawl(string $worker, string $text): self
    {
        file_put_contents("$this->directory/$worker." . History::EXTENSION, $text, FILE_APPEND);

        return $this;
    }

    public function history(): History
    {
        return new History($this->directory);
    }

    /** @param string $records calls, as those of tell() */
    public function call(string $primitive, string $worker, string $records): self
    {
        $this->write("$worker." . History::EXTENSION, "worker 0 $primitive 1 - | $records");

        return $this;
    }

    /** @return list<string> as violations() */
    public function callViolations(): array
    {
        return $this->names(new CallFindings(new CallHistory($this->directory)));
    }

    /**
     * @return list<string> "kind: worker #attempt, worker #attempt" of each violation
     */
    public function violations(): array
    {
        return $this->names(new Findings($this->history()));
    }

    /** @return list<string> */
    private function names(Tally $findings): array
    {
        $violations = [];
        foreach ($findings->shown as $shown) {
            foreach ($shown as $violation) {
                $violations[] = $this->name($violation);
            }
        }

        return $violations;
    }

    private function name(Violation $violation): string
    {
        $names = [];
        foreach ($violation->holds as $hold) {
            \assert($hold instanceof Hold || $hold instanceof Call);
            $names[] = "{$hold->worker->name} #$hold->number";
        }

        return rtrim("{$violation->kind->value}: " . implode(', ', $names), ': ');
    }

    private function write(string $file, string $records): void
    {
        $lines = '';
        foreach (explode('|', $records) as $record) {
            [$word, $time, $rest] = explode(' ', trim($record), 3) + ['', '', ''];
            if (preg_match('/^(\S+) ([\d.]+)( \S+)?$/', $rest, $match) === 1 && Fault::tryFrom($word) !== null) {
                $rest = sprintf('%s %d%s', $match[1], (float) $match[2] * 1e6, $match[3] ?? ''); // when it was over
            }
            $lines .= rtrim(sprintf('%s %d %s', $word, (float) $time * 1e6, $rest)) . "\n";
        }
        file_put_contents("$this->directory/$file", $lines, FILE_APPEND);
    }
}
