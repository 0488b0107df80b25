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
    /** @implementation-alias Latch\Store\NativeStore::save */
    public function save(\Latch\Key $key): void {}

    /** @implementation-alias Latch\Store\NativeStore::delete */
    public function delete(\Latch\Key $key): void {}

    /** @implementation-alias Latch\Store\NativeStore::exists */
    public function exists(\Latch\Key $key): bool {}

    /**
     * Tells that nobody holds the lock.
     *
     * @return array{name: string, mode: null, holders: list<array{pid: int}>}
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}

    /** @implementation-alias Latch\Store\NativeStore::putOffExpiration */
    public function putOffExpiration(\Latch\Key $key, float $ttl): void {}

    /** @implementation-alias Latch\Store\NativeStore::saveRead */
    public function saveRead(\Latch\Key $key): void {}

    /** @implementation-alias Latch\Store\NativeStore::waitAndSaveRead */
    public function waitAndSaveRead(\Latch\Key $key): void {}
}
