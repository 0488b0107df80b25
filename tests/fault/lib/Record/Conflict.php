<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * An attempt that ended because somebody else held the resource, it was said.
 */
final class Conflict
{
    public function __construct(
        public readonly Hold $attempt,
        public readonly int $ended,
    ) {
    }
}
