<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Locks in the memory of one process (one thread), for tests. They never expire.
 *
 * @not-serializable
 */
class InMemoryStore implements \Latch\SharedLockStoreInterface
{
    /**
     * @implementation-alias Latch\Store\NativeStore::save
     * @tentative-return-type
     */
    public function save(\Latch\Key $key): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::saveRead
     * @tentative-return-type
     */
    public function saveRead(\Latch\Key $key): void {}

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
     * Tells whether this process holds the lock.
     *
     * A snapshot: the state may have changed when the method returns.
     *
     * @return array{name: string, mode: 'exclusive'|'shared'|null, holders: list<array{pid: int}>}
     *         name: empty; mode: null when the lock is free; holders: empty also when they are
     *         unknown
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}
}
