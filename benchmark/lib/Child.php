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
        // The end that belongs to the other one is closed: that one's end is seen as such.
        fclose($pair[$pid === 0 ? 0 : 1]);
        if ($pid > 0) {
            return new self($pid, $pair[0]);
        }
        $run(new self((int) getmypid(), $pair[1]));
        exit(0);
    }

    public function say(int $number): void
    {
        fwrite($this->stream, pack('q', $number));
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

    /** Waits for its end. A child that failed is the end of the program. */
    public function join(): void
    {
        fclose($this->stream);
        pcntl_waitpid($this->pid, $status);
        if ($status !== 0) {
            throw new RuntimeException("Child $this->pid failed.");
        }
    }
}
