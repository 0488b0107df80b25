<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

/**
 * A Lock object that renews what it holds, whatever its process does meanwhile.
 */
interface KeptHandle extends Handle
{
    /** @param \Closure(string): void $told what to call when it is lost, and why */
    public function onLost(\Closure $told): void;

    /** Blocks for so many microseconds. */
    public function sleep(int $time): void;
}
