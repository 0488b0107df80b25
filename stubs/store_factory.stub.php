<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Makes stores of DSNs, as they stand in an application's configuration, and tells which stores there are.
 */
class StoreFactory
{
    /**
     * Makes the store that a DSN names, such as "flock", "flock:///var/lock/shop", "redis://localhost:6379" or
     * "postgresql+advisory://me@localhost/test". describe() lists all forms of DSNs.
     *
     * With latch.symfony=1 also all others that Symfony's factory knows, and its client objects: their stores come
     * from the package symfony/lock, which the application has.
     *
     * @throws \Latch\Exception\InvalidArgumentException when there is no store for it, or the DSN cannot be used
     */
    public static function createStore(#[\SensitiveParameter] object|string $connection): \Latch\PersistingStoreInterface {}

    /**
     * Tells which classes of stores there are, and what their locks can do; nothing is opened or connected. With a DSN
     * only the class that is for DSNs of its form: an empty list when there is none.
     *
     * - name: of the kind of store, as in phpinfo(); classes of one name share their locks
     * - title: where the locks are, for messages: "PostgreSQL"
     * - class: its name
     * - native: false for stores of the package symfony/lock, which createStore() makes with latch.symfony=1 alone
     * - dsns: forms that createStore() takes; one that ends with ":" or "/" is the beginning of a DSN
     * - examples: DSNs with "…" or capital letters in place of what has to be filled in, and what they mean
     * - clients: classes of objects that the constructor takes in place of a DSN
     * - scope: what a lock excludes: "process" and "machine" are the code in one of them, "server" all that can reach
     *   the server, "members" what the members of a CombinedStore exclude
     * - shared: whether readers can share a lock (of a CombinedStore: false, as the members decide)
     * - expiring: whether locks end after their TTL unless they are renewed
     * - fencing: whether locks have a fencing token
     * - listing: whether listHeld() lists the locks that are held
     * - ttl: seconds after which a lock expires that was made without a TTL; null: it does not
     * - library: the client library that Latch was built with, and its version; null: none
     * - build: "yes", "yes (libpq 15.3)", or what there is in a build without the library, as phpinfo() tells it
     *
     * @return list<array{
     *     name: string,
     *     title: string,
     *     class: class-string,
     *     native: bool,
     *     dsns: list<string>,
     *     examples: array<string, string>,
     *     clients: list<string>,
     *     scope: 'nothing'|'process'|'machine'|'server'|'members',
     *     shared: bool,
     *     expiring: bool,
     *     fencing: bool,
     *     listing: bool,
     *     ttl: float|null,
     *     library: string|null,
     *     build: string,
     * }>
     */
    public static function describe(#[\SensitiveParameter] ?string $dsn = null): array {}
}
