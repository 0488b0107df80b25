<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

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

    public function withNatives(NativeStores $natives): static
    {
        $this->natives = $natives;

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

        return $class === null || $this->natives === null
            ? $lock
            : $class::native($lock, $seconds, $this->natives) ?? $lock;
    }
}
