<?php

declare(strict_types=1);

namespace Latch\Symfony\Profiler;

/**
 * One acquire of a lock or semaphore, and what followed. Times are seconds since 1970.
 *
 * @internal
 */
final class LockSpan
{
    public const HELD = 'held';
    /** Held, and nobody tells for how long: semaphores do not log their release. */
    public const ACQUIRED = 'acquired';
    public const RELEASED = 'released';
    public const REFUSED = 'refused';
    public const LOST = 'lost';
    public const FAILED = 'failed';

    /** Without an end it is held still, or that is unknown. */
    public ?float $end = null;

    /** Why it was refused or lost, by whom. */
    public string $note = '';

    /**
     * @param string $kind   "lock" or "semaphore"
     * @param float  $start  beginning of the wait
     * @param float  $waited seconds
     * @param self::* $outcome
     */
    public function __construct(
        public readonly string $resource,
        public readonly string $kind,
        public readonly string $store,
        public readonly float $start,
        public readonly float $waited,
        public bool $read,
        public string $outcome,
    ) {
    }
}
