<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

/**
 * What a worker calls of a primitive that is not held.
 */
interface Calls
{
    /** Calls something once, or a few times, and records it. */
    public function step(): void;
}
