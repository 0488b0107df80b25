<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

/**
 * A line of the journal.
 */
final class Event
{
    /**
     * @param int                  $at   nanoseconds of the machine's monotonic clock
     * @param string               $by   name of the process
     * @param array<string, mixed> $more
     */
    public function __construct(
        public readonly int $at,
        public readonly string $by,
        public readonly string $event,
        public readonly string $message,
        public readonly array $more,
    ) {
    }

    public static function of(string $line): self
    {
        $values = json_decode($line, true, 16, \JSON_THROW_ON_ERROR);
        ['at' => $at, 'by' => $by, 'event' => $event, 'message' => $message] = $values;

        return new self($at, $by, $event, $message, array_diff_key($values, array_flip(['at', 'by', 'event', 'message'])));
    }

    public function told(int $since): string
    {
        return \sprintf('%9.1f ms  %-10s %-12s %s', ($this->at - $since) / 1e6, $this->by, $this->event, $this->message)
            . ($this->more === [] ? '' : '  ' . json_encode($this->more));
    }
}
