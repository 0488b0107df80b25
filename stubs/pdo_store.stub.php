<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Locks that are rows of a table, in PostgreSQL, MySQL, MariaDB, SQLite and whatever else PDO reaches: the table
 * of Symfony's PdoStore and DoctrineDbalStore. Processes with this store and with those exclude each other. A lock
 * expires, by the server's clock; a row whose time is over is free for the next holder. There are no shared locks.
 *
 * The table is made with the first lock if it is missing, or by createTable().
 *
 * @not-serializable
 */
class PdoStore implements \Latch\PersistingStoreInterface
{
    /**
     * @param \PDO|string $connOrDsn     a connection, whose error mode is PDO::ERRMODE_EXCEPTION; or where the
     *                                   database is: a DSN of PDO's, as in pgsql:host=localhost;dbname=test or
     *                                   sqlite:/var/lib/shop/locks.db
     * @param array       $options       db_table (lock_keys), db_id_col (key_id), db_token_col (key_token) and
     *                                   db_expiration_col (key_expiration): names in the database; beside a DSN
     *                                   also db_username, db_password, db_connection_options (attributes of
     *                                   PDO's); names: "hash", as Symfony up to 8.0 names rows, "plain", as from
     *                                   8.1 on, or "both"; without it latch.lock_names says; layout: "laravel"
     *                                   for the table of Laravel's DatabaseLock, whose names are cache_locks, key,
     *                                   owner and expiration then, and prefix: the one of Laravel's cache, up to
     *                                   190 bytes; fencing: true for fencing tokens, by one statement more
     * @param float       $gcProbability how probable it is that a new lock has expired rows deleted, 0 to 1
     * @param int         $initialTtl    seconds, 1 or more, after which locks without a TTL expire
     *
     * @phpstan-param array<string, mixed> $options
     *
     * @throws \Latch\Exception\InvalidArgumentException when the connection, the DSN, a name in the database or
     *                                                   the probability cannot be used
     * @throws \Latch\Exception\InvalidTtlException      when $initialTtl is out of range
     */
    public function __construct(
        #[\SensitiveParameter] \PDO|string $connOrDsn,
        #[\SensitiveParameter] array $options = [],
        float $gcProbability = 0.01,
        int $initialTtl = 300
    ) {}

    /**
     * Creates the table.
     *
     * @throws \PDOException                        when the table exists, or cannot be created; with a PDO object
     * @throws \Latch\Exception\LockStorageException the same, with a DSN
     * @throws \DomainException                     when it is not known how this kind of database writes it
     *
     * @tentative-return-type
     */
    public function createTable(): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::save
     * @tentative-return-type
     */
    public function save(\Latch\Key $key): void {}

    /**
     * @param float $ttl seconds, 1 or more
     *
     * @throws \Latch\Exception\InvalidTtlException
     *
     * @tentative-return-type
     */
    public function putOffExpiration(\Latch\Key $key, float $ttl): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::delete
     * @tentative-return-type
     */
    public function delete(\Latch\Key $key): void {}

    /** @implementation-alias Latch\Store\NativeStore::exists */
    public function exists(\Latch\Key $key): bool {}

    /**
     * Tells for how long the lock is held yet, as far as its row does: "host", "pid", "script", "since" and
     * "fencingToken" are null. In PostgreSQL, MySQL, MariaDB and SQLite.
     *
     * @return array{name: string, mode: 'exclusive'|null, holders: list<array{pid: null, host: null, script: null, since: null, remaining: float, fencingToken: null, id: string}>, holderCount: int, waiters: int}
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}

    /**
     * Lists the rows that have not expired, in no order, those of other programs included; with a prefix those that
     * begin with it. Where "hashed" is set, the name is the SHA-256 of one that is not known.
     *
     * @return list<array{name: string, mode: 'exclusive', holders: list<array{pid: null, host: null, script: null, since: null, remaining: float, fencingToken: null, id: string}>, hashed?: true, holderCount: int, waiters: int}>
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::listHeld
     */
    public function listHeld(): array {}

    /**
     * Takes the lock away from holders, as RedisStore::forceRelease(): they are not told.
     *
     * @param string[] $holders the ids of inspect(). A holder that came later keeps the lock
     *
     * @return int the number of them that held the lock
     *
     * @throws \Latch\Exception\InvalidArgumentException when an element of $holders is no string
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::forceRelease
     */
    public function forceRelease(\Latch\Key $key, array $holders): int {}
}

/**
 * The same on a connection of Doctrine DBAL. With the URL of a PostgreSQL, MySQL, MariaDB or SQLite database Latch
 * makes the connection itself, without DBAL; with any other URL DBAL makes it.
 *
 * @not-serializable
 */
class DoctrineDbalStore implements \Latch\PersistingStoreInterface
{
    /**
     * @param \Doctrine\DBAL\Connection|string $connOrUrl     a connection, or a URL of Doctrine's, as in
     *                                                        postgresql://user@localhost/test
     * @param array                            $options       db_table, db_id_col, db_token_col, db_expiration_col,
     *                                                        names, layout, prefix and fencing, as PdoStore has
     *                                                        them
     * @param float                            $gcProbability as PdoStore's
     * @param int                              $initialTtl    as PdoStore's
     *
     * @phpstan-param array<string, mixed> $options
     *
     * @throws \Latch\Exception\InvalidArgumentException when the URL, a name in the database or the probability
     *                                                   cannot be used
     * @throws \Latch\Exception\InvalidTtlException      when $initialTtl is out of range
     */
    public function __construct(
        #[\SensitiveParameter] \Doctrine\DBAL\Connection|string $connOrUrl,
        array $options = [],
        float $gcProbability = 0.01,
        int $initialTtl = 300
    ) {}

    /**
     * Creates the table, as configureSchema() describes it.
     *
     * @throws \Doctrine\DBAL\Exception            when the table exists, or cannot be created; with a connection
     * @throws \Latch\Exception\LockStorageException the same, with a URL
     *
     * @tentative-return-type
     */
    public function createTable(): void {}

    /**
     * Adds the table to a schema that does not have it, for migrations; not with the layout "laravel", whose table
     * Laravel's migrations create.
     *
     * @param \Closure $isSameDatabase tells whether the schema is of this store's database; it is given a function
     *                                 that executes a statement there
     *
     * @phpstan-param \Closure(\Closure(string): (int|numeric-string)): bool $isSameDatabase
     *
     * @return \Doctrine\DBAL\Schema\Schema the schema; from DBAL 4.5 on a new one, if the table is added
     */
    public function configureSchema(\Doctrine\DBAL\Schema\Schema $schema, \Closure $isSameDatabase) {}

    /**
     * @implementation-alias Latch\Store\NativeStore::save
     * @tentative-return-type
     */
    public function save(\Latch\Key $key): void {}

    /**
     * @param float $ttl seconds, 1 or more; untyped, as in Symfony's class
     *
     * @throws \Latch\Exception\InvalidTtlException
     *
     * @tentative-return-type
     */
    public function putOffExpiration(\Latch\Key $key, $ttl): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::delete
     * @tentative-return-type
     */
    public function delete(\Latch\Key $key): void {}

    /** @implementation-alias Latch\Store\NativeStore::exists */
    public function exists(\Latch\Key $key): bool {}

    /**
     * Tells for how long the lock is held yet, as far as its row does: "host", "pid", "script", "since" and
     * "fencingToken" are null. In PostgreSQL, MySQL, MariaDB and SQLite.
     *
     * @return array{name: string, mode: 'exclusive'|null, holders: list<array{pid: null, host: null, script: null, since: null, remaining: float, fencingToken: null, id: string}>, holderCount: int, waiters: int}
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}

    /**
     * Lists the rows that have not expired, in no order, those of other programs included; with a prefix those that
     * begin with it. Where "hashed" is set, the name is the SHA-256 of one that is not known.
     *
     * @return list<array{name: string, mode: 'exclusive', holders: list<array{pid: null, host: null, script: null, since: null, remaining: float, fencingToken: null, id: string}>, hashed?: true, holderCount: int, waiters: int}>
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::listHeld
     */
    public function listHeld(): array {}

    /**
     * Takes the lock away from holders, as RedisStore::forceRelease(): they are not told.
     *
     * @param string[] $holders the ids of inspect(). A holder that came later keeps the lock
     *
     * @return int the number of them that held the lock
     *
     * @throws \Latch\Exception\InvalidArgumentException when an element of $holders is no string
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::forceRelease
     */
    public function forceRelease(\Latch\Key $key, array $holders): int {}
}
