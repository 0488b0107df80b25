<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use Latch\Laravel\Tests\Support\MixedFleet;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Small fleets; the program mixed makes larger ones.
 */
final class MixedFleetTest extends LaravelTestCase
{
    #[DataProvider('drivers')]
    public function testNoAcquisitionOfAFleetOverlapsAnother(Driver $driver): void
    {
        $report = (new MixedFleet(new Application($driver), 2, 1))->run(500, 50, 200);

        self::assertSame(0, $report->overlaps(), $report->line() . $report->errors());
    }

    public function testAFleetWhoseProcessesHaveALockEachIsFoundOut(): void
    {
        $fleet = new MixedFleet(new Application(Driver::File), 2, 1);
        $report = $fleet->run(200, 2000, 100, static fn (int $process): string => "job-$process");

        self::assertGreaterThan(20, $report->overlaps(), $report->line());
    }
}
