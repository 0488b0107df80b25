<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Latch\Laravel\Companion\Companions;

/**
 * For subclasses of Laravel's stores: locks are made by Laravel, and get a queue. LOCKS: our class by Laravel's.
 *
 * @internal
 */
trait HasQueuedLocks
{
    /** Null in stores that Laravel makes as copies for internal use. */
    private ?Companions $companions = null;

    public function withQueue(Companions $companions): static
    {
        $this->companions = $companions;

        return $this;
    }

    /**
     * @param string      $name
     * @param int         $seconds
     * @param string|null $owner
     */
    public function lock($name, $seconds = 0, $owner = null)
    {
        $lock = parent::lock($name, $seconds, $owner);
        $class = self::LOCKS[$lock::class] ?? null;

        return $class === null || $this->companions === null
            ? $lock
            : Transplant::into($class, $lock)->withQueue($this->companions);
    }
}
