<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests\Support;

/**
 * What a process says about one piece of code.
 */
final class Answer
{
    /**
     * @param class-string|null $error   what it threw
     * @param int               $begunNs on the machine's monotonic clock
     */
    public function __construct(
        public readonly mixed $result,
        public readonly ?string $error,
        public readonly string $message,
        public readonly string $trace,
        public readonly int $begunNs,
        public readonly int $endedNs,
    ) {
    }

    public function seconds(): float
    {
        return ($this->endedNs - $this->begunNs) / 1e9;
    }
}
