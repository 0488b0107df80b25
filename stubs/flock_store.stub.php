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
     * @param string|null $lockPath        directory of the lock files, created if it is missing; null =
     *                                     the system's temporary directory
     * @param bool        $removeOnRelease remove the file of an exclusive lock when it is released;
     *                                     not beside Symfony 8.1 or older, which does not notice that
     * @param bool        $inheritable     programs that are started while a lock is held keep the lock, too:
     *                                     until its release, or until the last of them has ended
     *
     * @throws \Latch\Exception\InvalidArgumentException when the directory is missing or unwritable
     */
    public function __construct(#[\SensitiveParameter] ?string $lockPath = null, bool $removeOnRelease = false, bool $inheritable = false) {}

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
     * @implementation-alias Latch\Store\NativeStore::waitAndSave
     * @tentative-return-type
     */
    public function waitAndSave(\Latch\Key $key): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::waitAndSaveRead
     * @tentative-return-type
     */
    public function waitAndSaveRead(\Latch\Key $key): void {}

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
     * Tells who holds the lock, this process or another one. Does not create the lock file.
     *
     * A snapshot: the state may have changed when the method returns.
     * The information is the kernel's; only if it names no holder the lock is tried, which other processes may
     * notice for some microseconds. Another user's process is found if it acquired the lock itself; root
     * finds all.
     *
     * @return array{name: string, mode: 'exclusive'|'shared'|null, holders: list<array{pid: int}>}
     *         name: the lock file's path; mode: null when the lock is free; holders: empty also when they are
     *         unknown
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}

    /**
     * Lists the locks of the directory that are held, by this process or others, in no order.
     *
     * For each lock the remarks on inspect() apply. The files do not contain the names of resources.
     *
     * @return list<array{name: string, mode: 'exclusive'|'shared', holders: list<array{pid: int}>}>
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::listHeld
     */
    public function listHeld(): array {}
}
