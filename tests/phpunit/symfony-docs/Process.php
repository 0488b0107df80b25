<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyDocs;

/**
 * A process of worker.php: $process->method(…) is Application's method there.
 *
 * @mixin Application
 */
final class Process
{
    private const PATIENCE_S = 20;

    /** @var resource */
    private $process;

    /** @var array<int, resource> */
    private array $pipes = [];

    private ?self $other = null;

    private bool $busy = false;

    public function __construct(string $kind)
    {
        $latch = ['-d', 'extension=' . getenv('LATCH_SO'), '-d', 'latch.symfony=1'];
        $errors = ['-d', 'display_errors=stderr', '-d', 'error_reporting=-1'];
        $process = proc_open(
            [\PHP_BINARY, ...$errors, ...($kind === 'latch' ? $latch : []), __DIR__ . '/worker.php', $kind],
            [['pipe', 'r'], ['pipe', 'w'], 3 => ['pipe', 'w']],
            $this->pipes,
        );
        $this->process = \is_resource($process) ? $process : throw new \RuntimeException('No process');
    }

    /** Who answers what this process asks; null: itself. */
    public function contendWith(?self $other): void
    {
        $this->other = $other;
    }

    public function pid(): int
    {
        return proc_get_status($this->process)['pid'];
    }

    /**
     * @param array<mixed> $arguments
     */
    public function __call(string $method, array $arguments): mixed
    {
        $this->begin($method, ...$arguments);

        return $this->finish();
    }

    /** Has it do something whose result is fetched later, or not at all. */
    public function begin(string $method, mixed ...$arguments): void
    {
        if ($this->busy) {
            $this->finish();
        }
        $this->busy = true;
        $this->say([$method, ...$arguments]);
    }

    public function finish(): mixed
    {
        while (true) {
            [$kind, $what] = $this->hear();
            if ($kind === 'asked') {
                $this->say([$this->other?->__call(array_shift($what), $what)]);
            } else {
                $this->busy = false;

                return $kind === 'returned' ? $what : throw new \RuntimeException($what);
            }
        }
    }

    /** What the examples have printed, all in all; the process has to be at its end. */
    public function printed(): string
    {
        fclose($this->pipes[0]);

        return (string) stream_get_contents($this->pipes[1]);
    }

    /**
     * @param array<mixed> $message
     */
    private function say(array $message): void
    {
        fwrite($this->pipes[0], json_encode($message, JSON_THROW_ON_ERROR) . "\n");
    }

    /**
     * @return array{string, mixed}
     */
    private function hear(): array
    {
        $read = [$this->pipes[3]];
        $none = null;
        // Who is spoken to says one line at a time: none is left in PHP's buffer.
        if (stream_select($read, $none, $none, self::PATIENCE_S) === 0) {
            throw new \RuntimeException('No answer for ' . self::PATIENCE_S . ' s.');
        }
        $line = fgets($this->pipes[3]);

        return $line === false
            ? throw new \RuntimeException('The process has gone.')
            : json_decode($line, true, 16, JSON_THROW_ON_ERROR);
    }

    public function __destruct()
    {
        proc_terminate($this->process, \SIGKILL);
    }
}
