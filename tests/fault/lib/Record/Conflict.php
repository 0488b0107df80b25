<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * An attempt that was refused because another holder had the resource.
 */
final class Conflict
{
    public function __construct(
        public readonly Hold $attempt,
        public readonly int $ended,
    ) {
    }
}
