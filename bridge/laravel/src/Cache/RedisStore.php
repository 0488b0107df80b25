<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Latch\Laravel\Events\Announcer;
use Latch\Laravel\Lease\Leases;
use Latch\Laravel\Redis\NativeStores;

/**
 * Laravel's, whose locks are Latch's.
 */
final class RedisStore extends \Illuminate\Cache\RedisStore
{
    private const LOCKS = [
        \Illuminate\Cache\PhpRedisLock::class => PhpRedisLock::class,
        \Illuminate\Cache\RedisLock::class => RedisLock::class,
    ];

    /** Null in stores that Laravel makes as copies for internal use. */
    private ?NativeStores $natives = null;
    private Announcer $announcer;
    private Leases $leases;

    public function withNatives(NativeStores $natives, Announcer $announcer, Leases $leases): static
    {
        $this->natives = $natives;
        $this->announcer = $announcer;
        $this->leases = $leases;

        return $this;
    }

    /**
     * @param string      $name
     * @param int|float   $seconds
     * @param string|null $owner
     */
    public function lock($name, $seconds = 0, $owner = null)
    {
        $lock = parent::lock($name, \is_float($seconds) ? (int) ceil($seconds) : $seconds, $owner);
        $class = self::LOCKS[$lock::class] ?? null;

        $native = $class === null || $this->natives === null ? null : $class::native($lock, $seconds, $this->natives);
        $native?->withEvents($this->announcer, (string) $name)->lease($this->leases->of((string) $name));

        return $native ?? $lock;
    }
}
