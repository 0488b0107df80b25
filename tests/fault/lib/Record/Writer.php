<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * Appends records to a file: a line each, by one write(2), so that what was recorded is there though the
 * process is killed at the next instruction, and whole though others write to the same file.
 *
 * A record is a word, the time on the monotonic clock in nanoseconds, and what belongs to the word,
 * separated by blanks. Story knows the words of workers, Faults those of faults.
 */
final class Writer
{
    /** @var resource */
    private $stream;

    public function __construct(string $file)
    {
        // PHP buffers no writes to a plain file.
        $stream = fopen($file, 'a');
        if ($stream === false) {
            throw new \RuntimeException("Cannot write $file");
        }
        $this->stream = $stream;
    }

    public function write(string $word, int $time, int|string ...$details): void
    {
        $line = implode(' ', [$word, $time, ...$details]) . "\n";
        if (fwrite($this->stream, $line) !== \strlen($line)) {
            throw new \RuntimeException('Cannot write a record');
        }
    }
}
