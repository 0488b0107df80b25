<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Makes stores of DSNs, as they stand in an application's configuration.
 */
class StoreFactory
{
    /**
     * Makes the store that a DSN names: "flock", "flock:///directory", "flock+remove", "flock+remove:///directory",
     * "semaphore", "semaphore://project", "in-memory", "null", "redis://…" and "valkey://…" (see RedisStore),
     * "pgsql+advisory:…" and "postgresql+advisory://…" (see PostgreSqlStore), "mysql+advisory:…" and
     * "mysql+advisory://…" (see MysqlStore).
     *
     * With latch.symfony=1 also all others that Symfony's factory knows, and its client objects: their stores come
     * from the package symfony/lock, which the application has.
     *
     * @throws \Latch\Exception\InvalidArgumentException when there is no store for it, or the DSN cannot be used
     */
    public static function createStore(#[\SensitiveParameter] object|string $connection): \Latch\PersistingStoreInterface {}
}
