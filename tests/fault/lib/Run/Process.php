<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

/**
 * A worker process. It ends with this one, however this one ends.
 */
final class Process
{
    /** Records of answers: those of Story, and of Calls. */
    private const ANSWER = '/^(?:granted|conflict|renewed|lost|released|returned) /m';

    /** @var resource */
    private $process;
    private ?string $ending = null;
    public bool $stopped = false;
    /** How many answers it has recorded, of calls of any kind. */
    public int $answers = 0;
    /** Whether it has recorded its end. */
    public bool $done = false;
    /** The records that it has written. */
    public readonly string $file;
    public readonly int $pid;
    private readonly string $errors;
    /** @var resource|null */
    private $reader = null;

    /**
     * @param int          $slot      the place among those of its kind
     * @param list<string> $php       the interpreter with its options
     * @param list<string> $arguments of worker.php behind the name, but the last two
     * @param string       $what      run or probe
     */
    public function __construct(
        public readonly string $name,
        public readonly string $kind,
        public readonly int $slot,
        array $php,
        array $arguments,
        string $directory,
        string $what,
    ) {
        $this->file = "$directory/$name.records";
        $this->errors = "$directory/$name.errors";
        $command = ['setpriv', '--pdeathsig', 'KILL', '--', ...$php, \dirname(__DIR__, 2) . '/worker.php'];
        $errors = ['file', $this->errors, 'w'];
        // It inherits that SIGTERM waits until it is looked for, however early it comes.
        pcntl_sigprocmask(SIG_BLOCK, [SIGTERM], $before);
        $process = proc_open(
            [...$command, $name, $kind, ...$arguments, $directory, $what],
            [['file', '/dev/null', 'r'], $errors, $errors],
            $pipes,
        );
        pcntl_sigprocmask(SIG_SETMASK, (array) $before);
        if ($process === false) {
            throw new \RuntimeException("Cannot start worker $name");
        }
        $this->process = $process;
        $this->pid = $this->status()['pid'];
    }

    public function signal(int $signal): void
    {
        proc_terminate($this->process, $signal);
    }

    /** By what name the server knows it. */
    public function user(): string
    {
        return self::userIn($this->kind, $this->slot);
    }

    public static function userIn(string $kind, int $slot): string
    {
        return "$kind.$slot";
    }

    /** How it ended, as Faults has it; null while it runs. */
    public function ending(): ?string
    {
        if ($this->ending === null) {
            $this->status();
        }

        return $this->ending;
    }

    /**
     * Before PHP 8.3 how a process has ended is told once: by the first call that finds it ended.
     *
     * @return array<string, mixed>
     */
    private function status(): array
    {
        $status = proc_get_status($this->process);
        if (!$status['running']) {
            $this->ending = $status['signaled'] ? "signal-{$status['termsig']}" : "exit-{$status['exitcode']}";
        }

        return $status;
    }

    /** Unexpected output. */
    public function errors(): string
    {
        return trim((string) file_get_contents($this->errors));
    }

    /** How many grants it has recorded since this was asked last. */
    public function newGrants(): int
    {
        if ($this->reader === null && is_file($this->file)) {
            $this->reader = fopen($this->file, 'r') ?: null;
        }

        $records = $this->reader === null ? '' : (string) stream_get_contents($this->reader);
        $this->done = $this->done || str_contains("\n$records", "\nend ");

        $this->answers += (int) preg_match_all(self::ANSWER, $records);

        return substr_count($records, 'granted ');
    }
}
