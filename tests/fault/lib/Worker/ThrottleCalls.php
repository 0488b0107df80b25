<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\SyncFactory;
use Latch\Tests\Fault\Record\CallWriter;
use Latch\Throttle;
use Random\Randomizer;

/**
 * Throttles of different bursts, with and without waits.
 */
final class ThrottleCalls implements Calls
{
    private const LIMIT = 200;
    private const INTERVAL = 1.0;
    /** By the number of the resource. */
    private const BURSTS = [1, 3, 10];

    /** @var array<int, Throttle> */
    private array $throttles = [];

    /** @param list<string> $resources */
    public function __construct(
        private readonly SyncFactory $sync,
        private readonly CallWriter $records,
        private readonly array $resources,
        private readonly Randomizer $chance,
    ) {
    }

    public function step(): void
    {
        $number = $this->chance->getInt(0, \count($this->resources) - 1);
        $resource = $this->resources[$number];
        $burst = self::BURSTS[(int) preg_replace('/\D/', '', $resource) % \count(self::BURSTS)];
        $throttle = $this->throttles[$number]
            ??= $this->sync->createThrottle($resource, self::LIMIT, self::INTERVAL, $burst);
        $limits = [(int) (self::INTERVAL / self::LIMIT * 1e6), $burst];
        $percent = $this->chance->getInt(1, 100);
        if ($percent <= 15) {
            $this->records->call('look', $resource, ['-', ...$limits], static fn (): array => [
                (int) ($throttle->getRetryAfter() * 1e6),
            ]);

            return;
        }
        $wait = match (true) {
            $percent <= 55 => 0,
            $percent <= 80 => $this->chance->getInt(1, 30),
            default => null,
        };
        $this->records->call(
            'acquire',
            $resource,
            [$wait === 0 ? 'try' : $wait ?? 'wait', ...$limits],
            static fn (): array => [(int) ($wait === 0
                ? $throttle->acquire()
                : $throttle->acquire(true, $wait === null ? null : $wait / 1e3))],
        );
    }
}
