<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\SyncFactory;
use Latch\Tests\Fault\Record\CallWriter;
use Latch\Version;
use Random\Randomizer;

/**
 * Versions that grow with the time, coarsely: so several workers have the same one, and many an older one.
 */
final class VersionCalls implements Calls
{
    /** A version lasts so long, in ns. */
    private const STEP = 500_000;
    /** Digits before it: a number beyond 2^63. */
    private const PREFIX = '900000000000';

    /** @var array<string, Version> */
    private array $versions = [];

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
        $resource = $this->resources[$this->chance->getInt(0, \count($this->resources) - 1)];
        $version = $this->versions[$resource] ??= $this->sync->createVersion($resource);
        $back = $this->chance->getInt(1, 100) <= 70 ? 0 : $this->chance->getInt(0, 10);
        $text = self::PREFIX . sprintf('%012d', intdiv((int) hrtime(true), self::STEP) - $back);
        $percent = $this->chance->getInt(1, 100);
        if ($percent <= 15) {
            $this->records->call('outdated', $resource, [$text], static fn (): array => [(int) $version->isOutdated($text)]);
        } elseif ($percent <= 25) {
            $this->records->call('get', $resource, [], static fn (): array => [$version->get() ?? '-']);
        } else {
            $orSame = $percent <= 35;
            $answer = $this->records->call(
                'advance',
                $resource,
                [$text, (int) $orSame],
                static fn (): array => [(int) $version->advance($text, $orSame)],
            );
            if ($answer === ['1'] && $this->chance->getInt(1, 100) <= 5) {
                usleep($this->chance->getInt(0, 1000));
                $this->records->call('revert', $resource, [$text], static fn (): array => [(int) $version->revert($text)]);
            }
        }
    }
}
