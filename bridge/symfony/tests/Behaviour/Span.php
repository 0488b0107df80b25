<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

/**
 * A message in the hands of its handler, from the begin to the end, to the exception, or to the end of its process.
 */
final class Span
{
    public function __construct(
        public readonly string $message,
        public readonly string $by,
        public readonly int $from,
        public readonly int $to,
        public readonly string $end,
    ) {
    }

    public function overlaps(self $other): bool
    {
        return $this->from < $other->to && $other->from < $this->to;
    }
}
