<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * A record of a hold that was not granted, or not at that time.
 */
final class Unfounded
{
    public function __construct(
        public readonly Teller $worker,
        public readonly int $line,
        public readonly string $record,
        public readonly ?Hold $hold,
    ) {
    }
}
