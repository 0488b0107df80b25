<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use RuntimeException;

/**
 * A program in C that measures rows again and again: it keeps its connection between two batches, as the
 * others do.
 */
final class RawProgram
{
    /** @var resource */
    private $process;
    /** @var resource */
    private $input;
    /** @var resource */
    private $output;

    public function __construct(string $name, string ...$arguments)
    {
        $command = [getenv('LATCH_RAW') . "/$name", ...$arguments];
        $process = proc_open($command, [0 => ['pipe', 'r'], 1 => ['pipe', 'w']], $pipes);
        if ($process === false) {
            throw new RuntimeException("$command[0] cannot be started.");
        }
        $this->process = $process;
        [$this->input, $this->output] = $pipes;
    }

    /** It ends with its input. */
    public function __destruct()
    {
        fclose($this->input);
        fclose($this->output);
        proc_close($this->process);
    }

    /** @return Closure(int): float the nanoseconds of an iteration */
    public function row(string $name): Closure
    {
        return fn (int $iterations): float => $this->ask($name, $iterations)[0];
    }

    /** @return Closure(int): list<float> the nanoseconds of each iteration */
    public function latencies(): Closure
    {
        return fn (int $iterations): array => $this->ask('latency', $iterations);
    }

    /** @return list<float> */
    private function ask(string $row, int $iterations): array
    {
        fwrite($this->input, "$row $iterations\n");
        $line = fgets($this->output);
        if ($line === false) {
            throw new RuntimeException("The program in C gave no answer to \"$row\".");
        }

        return array_map('floatval', explode(' ', $line));
    }
}
