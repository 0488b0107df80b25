<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Benchmark\Machine;
use Latch\Tests\Fault\Check\Findings;
use Latch\Tests\Fault\Check\Waits;
use Latch\Tests\RedisServer;

require_once \dirname(__DIR__, 4) . '/benchmark/lib/Machine.php';

/**
 * A report in Markdown, which says where and how it came to be.
 */
final class ReportFile
{
    public function __construct(private readonly Options $options, private readonly Run $run)
    {
    }

    public function text(string $report, Findings $findings, bool $complete): string
    {
        $version = escapeshellarg(RedisServer::program()) . ' --version';
        $facts = array_filter(Machine::facts()) + [
            'redis-server' => (string) strtok((string) shell_exec($version), "\n"),
            'seed' => (string) $this->options->seed,
            'TLS' => $this->options->tls ? 'everywhere' : 'no',
            'workers' => $this->workers(),
            'locks' => "{$this->options->resources}, in {$this->options->groups} groups",
            'faults' => $this->options->faults ? "one every {$this->options->pause} ms at the latest" : 'none',
            'acquisitions' => sprintf(
                '%s in %.0f s',
                number_format($this->run->granted),
                $this->run->seconds,
            ) . ($complete ? '' : ', which is too few'),
        ];
        $list = '';
        foreach ($facts as $name => $fact) {
            $list .= "- $name: $fact\n";
        }
        $isWell = $findings->count() === 0 && $complete && $this->run->errors === '';
        $result = $isWell ? '**Nothing is wrong.**' : '**Something is wrong.**';
        $errors = $this->run->errors;
        if ($errors !== '') {
            $errors = "\nUnexpected output of workers:\n$errors";
        }
        [$promptly, $place] = [Waits::PROMPTLY / 1e9, Waits::PLACE / 1e9];

        [$title, $rules] = ['handed over', ''];
        $option = match (true) {
            $this->options->store === 'sentinel' => '--long-failover',
            $this->options->store === 'cluster' => '--long-cluster',
            $this->options->keepers > 0 => '--long-keep',
            default => '--long',
        };
        if ($this->options->keepers > 0) {
            $title = 'kept alive';
            $rules = <<<END

                - kept locks that are certain for longer than a TTL after the last renewal that can have been sent and
                  answered, that are certain again after their loss, or whose loss was not reported;
                - kept locks that are lost although neither worker nor server stood still, and no data were lost;
                END;
        }

        return <<<END
            # A history of locks that are $title

            $list
            $result `tests/fault/run $option` has looked for:
            $rules
            - two holders of a lock that only one can hold, lost grants, fencing tokens out of the order of the holds;
            - waiters without hindrance that get the lock more than $promptly s after a waiter that came more than
              $promptly s later;
            - a lock that is idle for more than $promptly s while a process waits, plus $place s for each waiter before
              it that was killed, stopped or cut off;
            - waits for $promptly s longer than their time-out, or, without one, that end before the grant;
            - queue entries of former waiters, and keys that stay for ever.

            ```
            $report$errors```

            END;
    }

    private function workers(): string
    {
        $workers = [];
        foreach ($this->options->kinds() as $kind => $count) {
            $workers[] = "$count on $kind";
        }

        return implode(', ', $workers);
    }
}
