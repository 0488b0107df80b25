<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

/**
 * A file for a handler that reads a line of it: it gets that when the test writes it.
 */
final class SlowFile
{
    /** @var resource */
    private $file;

    public function __construct(public readonly string $name)
    {
        posix_mkfifo($name, 0600) ?: throw new \RuntimeException("Cannot make $name");
        // Reading and writing: with nobody there yet, opening it for writing alone would wait.
        $this->file = fopen($name, 'r+');
    }

    public function write(string $line): void
    {
        fwrite($this->file, "$line\n");
    }

    public function __destruct()
    {
        fclose($this->file);
        unlink($this->name);
    }
}
