<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

use Psr\Log\LoggerInterface;

/**
 * Remembers which method was called with what. Each level has a method of its own, as Symfony calls
 * these and never log().
 */
final class RecordingLogger implements LoggerInterface
{
    /** @var list<array{string, string, array<mixed>}> level, message and context of each call */
    public array $records = [];

    /** @var \Closure(string, string, array<mixed>): void|null told of each record, and free to throw */
    public ?\Closure $listener = null;

    public function emergency(string|\Stringable $message, array $context = []): void
    {
        $this->record('emergency', $message, $context);
    }

    public function alert(string|\Stringable $message, array $context = []): void
    {
        $this->record('alert', $message, $context);
    }

    public function critical(string|\Stringable $message, array $context = []): void
    {
        $this->record('critical', $message, $context);
    }

    public function error(string|\Stringable $message, array $context = []): void
    {
        $this->record('error', $message, $context);
    }

    public function warning(string|\Stringable $message, array $context = []): void
    {
        $this->record('warning', $message, $context);
    }

    public function notice(string|\Stringable $message, array $context = []): void
    {
        $this->record('notice', $message, $context);
    }

    public function info(string|\Stringable $message, array $context = []): void
    {
        $this->record('info', $message, $context);
    }

    public function debug(string|\Stringable $message, array $context = []): void
    {
        $this->record('debug', $message, $context);
    }

    public function log($level, string|\Stringable $message, array $context = []): void
    {
        $this->record('log:' . $level, $message, $context);
    }

    /**
     * @param array<mixed> $context
     */
    private function record(string $level, string|\Stringable $message, array $context): void
    {
        $this->records[] = [$level, (string) $message, $context];
        if ($this->listener) {
            ($this->listener)($level, (string) $message, $context);
        }
    }
}
