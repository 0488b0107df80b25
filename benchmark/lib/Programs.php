<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use RuntimeException;

/**
 * Runs the programs that measure: parts/*.php under PHP, and what was compiled from raw/*.c.
 *
 * Each is a process of its own, so that none inherits the heap, the open files or the processor of
 * another. benchmark/run says in the environment where things are: LATCH_SO the extension,
 * LATCH_RAW the C programs, LATCH_VENDOR the peer.
 */
final class Programs
{
    /** Longer than any of them needs: a lock that hangs must not hang the benchmark. */
    private const SECONDS = 120;

    private readonly string $extension;
    private readonly string $raw;

    /** @var list<string> */
    private readonly array $extensions;

    /** @param string ...$extensions that the parts need */
    public function __construct(string ...$extensions)
    {
        $this->extensions = $extensions;
        $this->extension = (string) getenv('LATCH_SO');
        $this->raw = (string) getenv('LATCH_RAW');
    }

    /** The last processor that we may use: other processes like the first one better. */
    public static function quietProcessor(): int
    {
        return (int) preg_replace('/^.*[,-]/', '', self::statusLine('Cpus_allowed_list'));
    }

    /** The first one; the same where there is only one. */
    public static function otherProcessor(): int
    {
        return (int) self::statusLine('Cpus_allowed_list');
    }

    /** @return array<string, int> the processors that a server is pinned to: that of its clients, and another one */
    public static function settings(): array
    {
        return array_unique(['near' => self::quietProcessor(), 'apart' => self::otherProcessor()]);
    }

    /** Lets all threads of a process run on that processor alone, and what they start from now on. */
    public static function pin(int $pid, int $processor): void
    {
        exec("taskset --all-tasks --cpu-list --pid $processor $pid", result_code: $status);
        $status === 0 || throw new RuntimeException("Process $pid cannot be pinned.");
    }

    /** A line of this process' status in /proc. */
    public static function statusLine(string $name): string
    {
        $status = (string) file_get_contents('/proc/self/status');

        return preg_match("/^$name:\\s*(.*)$/m", $status, $match) === 1 ? $match[1] : '';
    }

    /**
     * PHP as it is measured: no php.ini, the code in opcache as in production, and what the parts
     * need.
     *
     * @return list<string>
     */
    public function php(): array
    {
        $command = [PHP_BINARY, '-n', '-d', "extension=$this->extension"];
        foreach ($this->extensions as $name) {
            if (!extension_loaded($name)) {
                array_push($command, '-d', "extension=$name");
            }
        }
        if (!extension_loaded('Zend OPcache')) {
            array_push($command, '-d', 'zend_extension=opcache');
        }

        return [...$command, '-d', 'opcache.enable_cli=1', '-d', 'memory_limit=-1'];
    }

    /** The version of an extension that the parts are run with. */
    public function version(string $extension): string
    {
        return $this->output([...$this->php(), '-r', 'echo phpversion($argv[1]);', '--', $extension], false);
    }

    /** What parts/<name>.php found out. */
    public function part(string $name, bool $pinned, string|int ...$arguments): array
    {
        $command = [...$this->php(), __DIR__ . "/../parts/$name.php", ...$arguments];

        return json_decode($this->output($command, $pinned), true, flags: JSON_THROW_ON_ERROR);
    }

    /** @return list<float> the numbers that the C program printed */
    public function raw(string $name, string|int|float ...$arguments): array
    {
        $output = $this->output(["$this->raw/$name", ...$arguments], false);

        return array_map('floatval', explode("\n", trim($output)));
    }

    /** @param list<string|int|float> $command */
    private function output(array $command, bool $pinned): string
    {
        $limited = ['timeout', '--kill-after=5', self::SECONDS, ...$command];
        if ($pinned) {
            array_unshift($limited, 'taskset', '-c', self::quietProcessor());
        }
        $command = array_map('strval', $limited);
        $process = proc_open($command, [1 => ['pipe', 'w']], $pipes);
        if ($process === false) {
            throw new RuntimeException("$command[0] cannot be started.");
        }
        $output = (string) stream_get_contents($pipes[1]);
        $status = proc_close($process);
        if ($status !== 0) {
            throw new RuntimeException(implode(' ', $command) . " ended with status $status:\n$output");
        }

        return $output;
    }
}
