<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use RuntimeException;

/**
 * A forked process and a line to it.
 */
final class Child
{
    /** @var array<int, resource> this process's ends of the lines to its children, by their pids */
    private static array $lines = [];

    /** @param resource $stream */
    private function __construct(public readonly int $pid, private $stream)
    {
    }

    /**
     * Forks. The child runs the closure, which gets the line to the parent, and exits.
     *
     * @param Closure(self): void $run
     */
    public static function start(Closure $run): self
    {
        $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $pid = $pair === false ? -1 : pcntl_fork();
        if ($pid < 0) {
            throw new RuntimeException('No process for a child.');
        }
        // The ends that belong to others are closed: only so is the end of these others seen.
        fclose($pair[$pid === 0 ? 0 : 1]);
        if ($pid > 0) {
            self::$lines[$pid] = $pair[0];

            return new self($pid, $pair[0]);
        }
        array_map(fclose(...), self::$lines);
        self::$lines = [];
        $run(new self((int) getmypid(), $pair[1]));
        exit(0);
    }

    public function say(int $number): void
    {
        if (@fwrite($this->stream, pack('q', $number)) === false) {
            throw new RuntimeException('There is nobody at the other end.');
        }
    }

    /** What the other one says; null when it is gone. */
    public function hear(): ?int
    {
        $bytes = (string) fread($this->stream, 8);

        return strlen($bytes) === 8 ? unpack('q', $bytes)[1] : null;
    }

    /** What the other one says, when it must not be gone. */
    public function expect(): int
    {
        return $this->hear() ?? throw new RuntimeException("Child $this->pid says nothing.");
    }

    /** Sleeps until that moment, or until the other one says something or is gone: true. */
    public function speaksBefore(int $moment): bool
    {
        $us = Clock::sleepBefore($moment);
        [$read, $none] = [[$this->stream], null];
        if (stream_select($read, $none, $none, intdiv($us, 1_000_000), $us % 1_000_000) > 0) {
            return true;
        }
        Clock::watchUntil($moment);

        return false;
    }

    /** Ends it at once, whatever it does. When this returns, the kernel has closed what it had open. */
    public function kill(): void
    {
        posix_kill($this->pid, SIGKILL);
        $this->hangUpAndWait();
    }

    /** Waits for its end. A child that failed is the end of the program. */
    public function join(): void
    {
        if ($this->hangUpAndWait() !== 0) {
            throw new RuntimeException("Child $this->pid failed.");
        }
    }

    /** @return int the status with which it has ended */
    private function hangUpAndWait(): int
    {
        unset(self::$lines[$this->pid]);
        fclose($this->stream);
        pcntl_waitpid($this->pid, $status);

        return $status;
    }
}
