<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use Latch\Tests\Program;

/**
 * A process of the application. It ends with PHPUnit, however that ends.
 */
class Process extends Program
{
    /**
     * @param list<string>      $command
     * @param string            $errors  file
     * @param array<int, mixed> $streams standard input and output
     */
    public function __construct(
        array $command,
        public readonly string $name,
        private readonly string $errors,
        private readonly Journal $journal,
        array $streams = [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w']],
    ) {
        $this->run($command, [...$streams, ['file', $errors, 'w']]);
    }

    /** kill -9; returns when it is gone. */
    public function kill(): void
    {
        $this->stop();
        $this->journal->note('killed', $this->name);
    }

    /** SIGTERM, as a supervisor sends it before a deployment. */
    public function tellToEnd(): void
    {
        $this->terminate(15);
    }

    /** Returns when it has ended by itself. */
    public function awaitItsEnd(): void
    {
        $this->awaitEnd();
    }

    public function errors(): string
    {
        return (string) file_get_contents($this->errors);
    }
}
