<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use PHPUnit\Framework\Attributes\Group;

/**
 * A small soak; the program soak makes larger ones.
 */
#[Group('soak')]
final class SoakTest extends BehaviourTestCase
{
    public function testF1OrderWithWorkersThatAreKilled(): void
    {
        $report = (new Soak($this->app, 4, 0.4))->runOrdered(120, 6);

        self::assertSame([], $report->findings);
    }

    public function testF2PartsWithWorkersThatAreKilled(): void
    {
        $report = (new Soak($this->app, 4, 0.25))->runParts(20, 10);

        self::assertSame([], $report->findings);
    }
}
