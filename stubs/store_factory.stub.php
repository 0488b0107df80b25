<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Makes stores from DSNs, as in an application's configuration, and describes all stores.
 */
class StoreFactory
{
    /**
     * Makes the store of a DSN, such as "flock", "flock:///var/lock/shop", "redis://localhost:6379" or
     * "postgresql+advisory://me@localhost/test". describe() lists all forms of DSNs.
     *
     * With latch.symfony=1 it also takes all other DSNs and client objects of Symfony's factory: their stores
     * come from the application's package symfony/lock.
     *
     * @throws \Latch\Exception\InvalidArgumentException when no store takes the argument, or the DSN cannot be used
     */
    public static function createStore(#[\SensitiveParameter] object|string $connection): \Latch\PersistingStoreInterface {}

    /**
     * Describes the classes of stores, and the capabilities of their locks, without opening or connecting a store.
     * With a DSN only the class for DSNs of this form: an empty list when there is none.
     *
     * - name: the kind of store, as in phpinfo(); classes of one name share their locks
     * - title: place of the locks, for messages: "PostgreSQL"
     * - class: name of the class
     * - native: false for stores of the package symfony/lock, which createStore() makes only with latch.symfony=1
     * - dsns: forms of DSNs for createStore(); a form that ends with ":" or "/" is the beginning of a DSN
     * - examples: DSNs with "…" or capital letters as placeholders, and their meanings
     * - clients: classes of client objects that the constructor takes in place of a DSN
     * - scope: the code that a lock excludes: in the same "process" or "machine", with access to the same "server",
     *   or, of a CombinedStore, the scopes of its "members"
     * - shared: whether readers can share a lock (of a CombinedStore: false, as the members decide)
     * - expiring: whether locks end after their TTL unless they are renewed
     * - fencing: whether locks have a fencing token
     * - listing: whether listHeld() lists the locks that are held
     * - ttl: seconds after which a lock without a TTL expires; null: never
     * - library: the client library that Latch was built with, and its version; null: none
     * - build: "yes", "yes (libpq 15.3)", or the text of phpinfo() in a build without the library
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
