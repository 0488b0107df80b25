<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

use Latch\Tests\Support\Semaphores;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * A command with Console's LockableTrait.
 */
final class LockableCommandTest extends AppTestCase
{
    #[DataProvider('ways')]
    public function testTheSecondStartIsRefused(bool $first, bool $second): void
    {
        $project = bin2hex(random_bytes(6));
        $one = $this->app->console($first, "app:report $project");
        self::assertSame('The report begins.', $one->hear());
        $two = $this->app->console($second, "app:report $project");
        self::assertSame(['The report is being made.', 'exit code 1'], $two->finish());
        self::assertTrue(Semaphores::exists($this->semaphore($project)));
        self::assertSame('ON WE GO', $one->ask('on we go'));
        self::assertSame(['The report is ready.'], $one->finish());
        $three = $this->app->console($second, "app:report $project");
        self::assertSame(['The report begins.', 'The report is ready.'], $three->finish());
        self::assertFalse(Semaphores::exists($this->semaphore($project)));
    }

    #[DataProvider('ways')]
    public function testTheSecondStartWaits(bool $first, bool $second): void
    {
        $project = bin2hex(random_bytes(6));
        $one = $this->app->console($first, "app:report $project");
        self::assertSame('The report begins.', $one->hear());
        $two = $this->app->console($second, "app:report $project --wait");
        self::assertSame('Wait.', $two->hear());
        self::assertSame('ON WE GO', $one->ask('on we go'));
        self::assertTrue($two->isSilent());
        self::assertSame(['The report is ready.'], $one->finish());
        self::assertSame(['The report begins.', 'The report is ready.'], $two->finish());
        self::assertFalse(Semaphores::exists($this->semaphore($project)));
    }

    private function semaphore(string $project): int
    {
        return Semaphores::key("report-$project", $this->app->semaphoreDigest());
    }
}
