<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Locks nothing: every acquire succeeds, no lock is ever held.
 *
 * @not-serializable
 */
class NullStore implements \Latch\BlockingSharedLockStoreInterface
{
    /**
     * @implementation-alias Latch\Store\NativeStore::save
     * @tentative-return-type
     */
    public function save(\Latch\Key $key): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::delete
     * @tentative-return-type
     */
    public function delete(\Latch\Key $key): void {}

    /** @implementation-alias Latch\Store\NativeStore::exists */
    public function exists(\Latch\Key $key): bool {}

    /**
     * Always reports a free lock.
     *
     * @return array{name: string, mode: null, holders: list<array{pid: int}>}
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}

    /**
     * @implementation-alias Latch\Store\NativeStore::putOffExpiration
     * @tentative-return-type
     */
    public function putOffExpiration(\Latch\Key $key, float $ttl): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::saveRead
     * @tentative-return-type
     */
    public function saveRead(\Latch\Key $key): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::waitAndSaveRead
     * @tentative-return-type
     */
    public function waitAndSaveRead(\Latch\Key $key): void {}
}
