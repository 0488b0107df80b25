<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Latch\Laravel\Companion\Companions;
use Latch\Laravel\Events\Announcer;

/**
 * For subclasses of Laravel's stores: locks are made by Laravel, and get a queue. LOCKS: our class by Laravel's.
 *
 * @internal
 */
trait HasQueuedLocks
{
    /** Null in stores that Laravel makes as copies for internal use. */
    private ?Companions $companions = null;
    private Announcer $announcer;

    public function withQueue(Companions $companions, Announcer $announcer): static
    {
        $this->companions = $companions;
        $this->announcer = $announcer;

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
            : Transplant::into($class, $lock)->withQueue($this->companions)->withEvents($this->announcer, (string) $name);
    }
}
