<?php

declare(strict_types=1);

namespace Latch\Laravel\Inspection;

use Illuminate\Cache\DatabaseStore;
use Illuminate\Cache\FileStore;
use Illuminate\Cache\MemcachedStore;
use Illuminate\Cache\RedisStore;
use Illuminate\Contracts\Cache\Factory;
use Illuminate\Contracts\Cache\Store;
use Latch\Laravel\Redis\NativeStores;

/**
 * Finds out what can be told of a cache store's locks.
 *
 * @internal
 */
final class Inspectors
{
    public function __construct(private readonly Factory $cache, private readonly NativeStores $natives)
    {
    }

    /**
     * @param string|null $name null: the default store
     *
     * @throws \InvalidArgumentException when there is no such store, or it has no locks that others see
     */
    public function of(?string $name): Inspector
    {
        $store = $this->store($name);

        return match (true) {
            $store instanceof RedisStore => new RedisInspector($store, $this->natives),
            $store instanceof DatabaseStore => new DatabaseInspector($store),
            $store instanceof FileStore, $store instanceof MemcachedStore => new NameInspector($store),
            default => throw new \InvalidArgumentException('Nothing is known of the locks of a ' . $store::class . '.'),
        };
    }

    public function store(?string $name): Store
    {
        return $this->cache->store($name)->getStore();
    }
}
