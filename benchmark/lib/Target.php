<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What a measured value must not exceed, or must reach.
 */
final class Target
{
    private function __construct(
        public readonly string $name,
        public readonly string $limit,
        public readonly float $measured,
        public readonly bool $holds,
    ) {
    }

    public static function atMost(string $name, float $limit, string $unit, float $measured): self
    {
        return new self($name, "<= $limit $unit", $measured, $measured <= $limit);
    }

    public static function atLeast(string $name, float $limit, string $unit, float $measured): self
    {
        return new self($name, ">= $limit $unit", $measured, $measured >= $limit);
    }
}
