<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * A message without any rule.
 */
final class Note
{
    public function __construct(public readonly int $id)
    {
    }
}
