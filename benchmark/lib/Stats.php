<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What a list of measurements comes to.
 */
final class Stats
{
    /** @param non-empty-list<int|float> $values */
    public static function median(array $values): float
    {
        sort($values);
        $middle = intdiv(count($values), 2);

        return count($values) % 2 === 1
            ? (float) $values[$middle]
            : ($values[$middle - 1] + $values[$middle]) / 2;
    }

    /**
     * The value that so many of a hundred do not exceed.
     *
     * @param non-empty-list<int|float> $values
     */
    public static function percentile(array $values, int $percent): float
    {
        sort($values);

        return (float) $values[(int) ceil(count($values) * $percent / 100) - 1];
    }

    /**
     * @param non-empty-list<int|float> $values
     *
     * @return array{median: float, p90: float, p99: float, min: float, max: float, count: int}
     */
    public static function summary(array $values): array
    {
        return [
            'median' => self::median($values),
            'p90' => self::percentile($values, 90),
            'p99' => self::percentile($values, 99),
            'min' => (float) min($values),
            'max' => (float) max($values),
            'count' => count($values),
        ];
    }
}
