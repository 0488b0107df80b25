<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Locks on files by flock(2), for all processes of one machine. They never expire.
 *
 * @not-serializable
 */
class FlockStore implements \Latch\BlockingStoreInterface, \Latch\SharedLockStoreInterface
{
    /**
     * @param string|null $lockPath        directory of the lock files, made if need be; null = the
     *                                     system's temporary directory
     * @param bool        $removeOnRelease remove the file of an exclusive lock when it is released;
     *                                     not beside Symfony 8.1 or older, which does not notice
     * @param bool        $inheritable     programs that are started while a lock is held keep it, too:
     *                                     until it is released, or until the last of them has ended
     *
     * @throws \Latch\Exception\InvalidArgumentException when the directory is missing or unwritable
     */
    public function __construct(?string $lockPath = null, bool $removeOnRelease = false, bool $inheritable = false) {}

    /** @implementation-alias Latch\Store\NativeStore::save */
    public function save(\Latch\Key $key): void {}

    /** @implementation-alias Latch\Store\NativeStore::saveRead */
    public function saveRead(\Latch\Key $key): void {}

    /** @implementation-alias Latch\Store\NativeStore::waitAndSave */
    public function waitAndSave(\Latch\Key $key): void {}

    /** @implementation-alias Latch\Store\NativeStore::waitAndSaveRead */
    public function waitAndSaveRead(\Latch\Key $key): void {}

    /** @implementation-alias Latch\Store\NativeStore::putOffExpiration */
    public function putOffExpiration(\Latch\Key $key, float $ttl): void {}

    /** @implementation-alias Latch\Store\NativeStore::delete */
    public function delete(\Latch\Key $key): void {}

    /** @implementation-alias Latch\Store\NativeStore::exists */
    public function exists(\Latch\Key $key): bool {}
}
