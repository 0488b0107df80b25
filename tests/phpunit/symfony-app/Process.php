<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

use Latch\Tests\Support\Wait;

/**
 * A process of the application, driven through its standard input and output.
 */
final class Process
{
    /** @var resource */
    private $process;

    /** @var array<int, resource> */
    private array $pipes = [];

    private string $unread = '';

    private bool $ended = false;

    /**
     * @param list<string> $command
     * @param string       $log     where the application writes its log; beside it are the errors
     */
    public function __construct(array $command, private readonly string $log)
    {
        $errors = ['file', "$log.errors", 'w'];
        $process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], $errors], $this->pipes);
        if ($process === false) {
            throw new \RuntimeException('Cannot start ' . implode(' ', $command));
        }
        $this->process = $process;
    }

    public function pid(): int
    {
        return proc_get_status($this->process)['pid'];
    }

    public function tell(string ...$lines): self
    {
        fwrite($this->pipes[0], implode('', array_map(static fn (string $line): string => "$line\n", $lines)));

        return $this;
    }

    /** The next line that it prints. */
    public function hear(): string
    {
        while (!str_contains($this->unread, "\n")) {
            if (!$this->read()) {
                throw new \RuntimeException("It has ended: $this->unread{$this->errors()}");
            }
        }
        [$line, $this->unread] = explode("\n", $this->unread, 2);

        return $line;
    }

    /** Whether it says nothing, while it sleeps. */
    public function isSilent(): bool
    {
        $pid = $this->pid();
        Wait::until(
            static fn (): bool => preg_match('/^State:\s+S/m', (string) file_get_contents("/proc/$pid/status")) === 1,
            "process $pid sleeps",
        );
        $read = [$this->pipes[1]];
        $none = null;

        return $this->unread === '' && stream_select($read, $none, $none, 0) === 0;
    }

    /** Tells it something; returns what it prints then. */
    public function ask(string $line): string
    {
        return $this->tell($line)->hear();
    }

    /**
     * Waits until it ends, which its input has.
     *
     * @return list<string> what else it prints, at last the errors and, if it is not 0, its exit code
     */
    public function finish(): array
    {
        if (\is_resource($this->pipes[0])) {
            fclose($this->pipes[0]);
        }
        while ($this->read()) {
            // until it ends
        }
        $lines = explode("\n", rtrim($this->unread . $this->errors(), "\n"));
        $this->ended = true;
        $status = proc_close($this->process);
        if ($status !== 0) {
            $lines[] = "exit code $status";
        }

        return array_values(array_filter($lines, static fn (string $line): bool => trim($line) !== ''));
    }

    public function terminate(): void
    {
        proc_terminate($this->process, \SIGTERM);
    }

    /** Without a good-bye. */
    public function kill(): void
    {
        proc_terminate($this->process, \SIGKILL);
        $this->finish();
    }

    /**
     * What it has logged about locks, and what the application itself says.
     *
     * @return list<string>
     */
    public function log(): array
    {
        return Log::lines($this->log);
    }

    /** Waits until this stands in its log. */
    public function awaitLog(string $text, int $times = 1): void
    {
        Log::await($this->log, $text, $times);
    }

    public function __destruct()
    {
        if (!$this->ended) {
            $this->kill();
        }
    }

    /** Reads something; false at its end. */
    private function read(): bool
    {
        $read = [$this->pipes[1]];
        $none = null;
        if (!stream_select($read, $none, $none, (int) Wait::LIMIT)) {
            proc_terminate($this->process, \SIGKILL);
            throw new \RuntimeException('It says nothing: ' . $this->unread . $this->errors());
        }
        $data = (string) fread($this->pipes[1], 65536);
        $this->unread .= $data;

        return $data !== '';
    }

    private function errors(): string
    {
        return (string) file_get_contents("$this->log.errors");
    }
}
