<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Illuminate\Cache\CacheManager;
use Illuminate\Cache\DatabaseStore as LaravelDatabaseStore;
use Illuminate\Cache\FileStore as LaravelFileStore;
use Illuminate\Cache\MemcachedStore as LaravelMemcachedStore;
use Illuminate\Cache\RedisStore as LaravelRedisStore;
use Illuminate\Cache\Repository;
use Illuminate\Contracts\Cache\Store;
use Latch\Laravel\Companion\Companions;
use Latch\Laravel\Events\Announcer;
use Latch\Laravel\Lease\Leases;
use Latch\Laravel\Redis\NativeStores;

/**
 * Makes a cache manager create stores whose locks have a queue, by its own names of drivers: no configuration changes.
 *
 * @internal
 */
final class CacheDrivers
{
    /** Drivers that are replaced, unless an application has replaced them. */
    private const DRIVERS = ['database', 'file', 'memcached', 'redis'];

    /** Ours by Laravel's. Subclasses of applications stay as they are. */
    private const STORES = [
        LaravelDatabaseStore::class => DatabaseStore::class,
        LaravelFileStore::class => FileStore::class,
        LaravelMemcachedStore::class => MemcachedStore::class,
        LaravelRedisStore::class => RedisStore::class,
    ];

    /**
     * @param \Closure(): Companions   $companions asked when the first store is created that needs them
     * @param \Closure(): NativeStores $natives    the same
     */
    public function __construct(
        private readonly \Closure $companions,
        private readonly \Closure $natives,
        private readonly Announcer $announcer,
        private readonly Leases $leases,
    ) {
    }

    public function install(CacheManager $manager): void
    {
        $replaced = array_filter(self::DRIVERS, static fn (string $driver): bool => !self::isExtended($manager, $driver));
        $replace = $this->replace(...);
        foreach ($replaced as $driver) {
            // CacheManager binds it to itself, so that it may call what is protected: it cannot be static.
            $manager->extend($driver, function (mixed $app, array $config) use ($driver, $replace): mixed {
                return $replace($this->{'create' . ucfirst($driver) . 'Driver'}($config));
            });
        }
        foreach (self::created($manager) as [$driver, $repository]) {
            if (\in_array($driver, $replaced, true)) {
                $this->replace($repository);
            }
        }
    }

    /** The repository stays, as others have it already. */
    private function replace(mixed $repository): mixed
    {
        if ($repository instanceof Repository) {
            $store = $repository->getStore();
            $class = self::STORES[$store::class] ?? null;
            if ($class !== null) {
                $repository->setStore($this->equip(Transplant::into($class, $store)));
            }
        }

        return $repository;
    }

    private function equip(DatabaseStore|FileStore|MemcachedStore|RedisStore $store): Store
    {
        return $store instanceof RedisStore
            ? $store->withNatives(($this->natives)(), $this->announcer, $this->leases)
            : $store->withQueue(($this->companions)(), $this->announcer);
    }

    private static function isExtended(CacheManager $manager, string $driver): bool
    {
        return (fn (): bool => isset($this->customCreators[$driver]))->call($manager);
    }

    /**
     * @return list<array{string|null, mixed}> names of drivers, and repositories that there are already
     */
    private static function created(CacheManager $manager): array
    {
        return (fn (): array => array_map(
            fn (mixed $name): array => [$this->getConfig($name)['driver'] ?? null, $this->stores[$name]],
            array_keys($this->stores),
        ))->call($manager);
    }
}
