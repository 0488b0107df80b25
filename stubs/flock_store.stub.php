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
     * Tells who holds the lock, this process or another one. The lock file is not made.
     *
     * It is a look at one moment: what it tells may be over when it returns.
     * The kernel is asked; only where it names nobody the lock is tried, which others may notice for
     * some microseconds. Another user's process is found as long as it is the one that took the
     * lock; root finds all.
     *
     * @return array{name: string, mode: 'exclusive'|'shared'|null, holders: list<array{pid: int}>}
     *         name: the lock file's path; mode: null when nobody holds it; holders: empty also when they cannot
     *         be known
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}

    /**
     * Lists the locks of the directory that are held, by this process or others, in no order.
     *
     * What inspect() says of one lock holds for each. Resources cannot be told from the files.
     *
     * @return list<array{name: string, mode: 'exclusive'|'shared', holders: list<array{pid: int}>}>
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::listHeld
     */
    public function listHeld(): array {}
}
