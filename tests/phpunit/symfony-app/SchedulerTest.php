<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

use Latch\Tests\Support\Wait;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Scheduler with several workers: its checkpoint is a lock and what is kept in a cache.
 */
final class SchedulerTest extends AppTestCase
{
    private const TICK_MS = 200;

    #[DataProvider('ways')]
    public function testEachTickRunsOnceAndNoneIsLeftOut(bool $first, bool $second): void
    {
        $workers = [];
        foreach ([$first, $second, $second] as $latch) {
            $workers[] = $this->app->console($latch, 'messenger:consume scheduler_digests --sleep=0.01 -q');
        }
        // Whoever has the lock has it until it goes; then somebody else goes on where it has stopped.
        $ticks = [];
        while ($workers !== []) {
            $worker = $this->whoHasRunSomething($workers);
            $worker->awaitLog('digest of', 3);
            $worker->terminate();
            self::assertSame([], $worker->finish());
            array_push($ticks, ...preg_replace('/\D+/', '', preg_grep('/^digest of/', $worker->log())));
            $workers = array_filter($workers, static fn (Process $other): bool => $other !== $worker);
        }

        self::assertGreaterThanOrEqual(9, \count($ticks));
        $expected = range((int) $ticks[0], (int) $ticks[0] + self::TICK_MS * (\count($ticks) - 1), self::TICK_MS);
        self::assertSame($expected, array_map(intval(...), $ticks));
    }

    /**
     * @param array<int, Process> $workers
     */
    private function whoHasRunSomething(array $workers): Process
    {
        $found = null;
        Wait::until(static function () use ($workers, &$found): bool {
            foreach ($workers as $worker) {
                if (preg_grep('/^digest of/', $worker->log()) !== []) {
                    $found = $worker;
                }
            }

            return $found !== null;
        }, 'a worker runs');

        return $found;
    }
}
