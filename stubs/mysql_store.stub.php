<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Named locks (GET_LOCK) of MySQL or MariaDB, for all processes that use the same server, with the names
 * of Symfony's MysqlStore: the two exclude each other. The server holds a lock for a session: it never
 * expires, and is free at once when the session ends, for whatever reason. There are no shared locks.
 *
 * With a DSN the store has a session of its own, which is shared by all stores of this process (in a
 * thread-safe PHP: of this thread) that have the same settings, and is kept from request to request. It
 * begins with the first lock. With a PDO object the locks are held by that object's session, and end
 * with it; while such a store waits, signals are handled once a second.
 *
 * @not-serializable
 */
class MysqlStore implements \Latch\BlockingStoreInterface
{
    /**
     * @param \PDO|string         $connOrDsn a connection, whose error mode is PDO::ERRMODE_EXCEPTION; or where
     *                                       the server is: mysql:host=localhost;dbname=test, as PDO has it, or
     *                                       mysql://[user[:password]@][host[:port]][/dbname][?option=value&...]
     * @param array               $options   beside a DSN: db_username, db_password, db_connection_options
     *                                       (attributes of PDO's, of which PDO::ATTR_TIMEOUT and those for TLS
     *                                       have an effect), and the options of a DSN, which they override:
     *                                       timeout (seconds to connect within, 5), read_timeout (seconds
     *                                       within which a statement is answered, 5), ssl_ca, ssl_capath,
     *                                       ssl_cert, ssl_key, ssl_cipher, ssl_mode (disabled, required or
     *                                       verify_identity), ssl_verify_server_cert, enable_cleartext_plugin
     *                                       (0 or 1), unix_socket, charset, program_name, persistent_id
     *
     * @phpstan-param array<string, mixed> $options
     *
     * @throws \Latch\Exception\InvalidArgumentException when the connection or the DSN cannot be used, or when
     *                                                   this build of Latch has no libmariadb
     */
    public function __construct(#[\SensitiveParameter] \PDO|string $connOrDsn, #[\SensitiveParameter] array $options = []) {}

    /**
     * @implementation-alias Latch\Store\NativeStore::save
     * @tentative-return-type
     */
    public function save(\Latch\Key $key): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::waitAndSave
     * @tentative-return-type
     */
    public function waitAndSave(\Latch\Key $key): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::putOffExpiration
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
     * Tells which sessions with the server hold the lock, by the server's session numbers.
     *
     * A snapshot: the state may have changed when the method returns.
     *
     * @return array{name: string, mode: 'exclusive'|null, holders: list<array{session: int}>}
     *         name: the name by which the server knows the lock; mode: null when the lock is free
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}
}

/**
 * The same on a connection of Doctrine DBAL. With a URL Latch makes the connection itself, without DBAL.
 *
 * @not-serializable
 */
class DoctrineDbalMysqlStore implements \Latch\BlockingStoreInterface
{
    /**
     * @param \Doctrine\DBAL\Connection|string $connOrUrl a connection to MySQL or MariaDB, or a URL as MysqlStore has it
     *
     * @throws \Latch\Exception\InvalidArgumentException when the connection or the URL cannot be used, or when
     *                                                   this build of Latch has no libmariadb
     */
    public function __construct(#[\SensitiveParameter] \Doctrine\DBAL\Connection|string $connOrUrl) {}

    /**
     * @implementation-alias Latch\Store\NativeStore::save
     * @tentative-return-type
     */
    public function save(\Latch\Key $key): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::waitAndSave
     * @tentative-return-type
     */
    public function waitAndSave(\Latch\Key $key): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::putOffExpiration
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
     * Tells which sessions with the server hold the lock, by the server's session numbers.
     *
     * A snapshot: the state may have changed when the method returns.
     *
     * @return array{name: string, mode: 'exclusive'|null, holders: list<array{session: int}>}
     *         name: the name by which the server knows the lock; mode: null when the lock is free
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}
}
