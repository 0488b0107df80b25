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
            $errors = "\nWhat workers said that have nothing to say:\n$errors";
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
                  answered, that are certain again once they were lost, or of which nobody was told that they are;
                - kept locks that are lost though neither they nor the server stood still, and nothing was forgotten;
                END;
        }

        return <<<END
            # A history of locks that are $title

            $list
            $result `tests/fault/run $option` has looked for:
            $rules
            - two who hold what only one can hold, grants that are lost, fencing tokens out of the order of the holds;
            - who waits without being hindered, and gets the lock more than $promptly s after somebody who came more than
              $promptly s later;
            - who waits while nobody has the lock for more than $promptly s, and $place s for each before it that was
              killed, stopped or cut off;
            - who waits for $promptly s longer than its time-out, or, without one, not until it has the lock;
            - queue entries of those who wait no longer, and keys that stay for ever.

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
