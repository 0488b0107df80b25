<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Driver;
use PHPUnit\Framework\TestCase;

abstract class LaravelTestCase extends TestCase
{
    /**
     * @return iterable<string, array{Driver}>
     */
    public static function drivers(): iterable
    {
        foreach (Driver::cases() as $driver) {
            yield $driver->value => [$driver];
        }
    }

    /** Of a lock, for this test alone. */
    protected static function lockName(): string
    {
        return 'job-' . bin2hex(random_bytes(6));
    }

    /**
     * @param list<float> $values
     */
    protected static function median(array $values): float
    {
        sort($values);

        return $values[intdiv(\count($values), 2)];
    }
}
