<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Locks in memory that the processes of one machine share: a file that all of them have mapped. An acquire and a
 * release make no system call while nobody waits; waiters are served in their order. The locks never expire, and
 * belong to the process (the thread) that acquired them: its death frees them, and a forked child does not inherit
 * them. Exclude each other: processes with this store and the same file. Symfony has no such store.
 *
 * @not-serializable
 */
class SharedMemoryStore implements \Latch\BlockingSharedLockStoreInterface, \Latch\BlockingStoreInterface
{
    /**
     * @param string|null $path     absolute path of the file, which is made if it is missing, in a directory that
     *                              exists; on a local file system, best on tmpfs such as /dev/shm. null = a file
     *                              that this user's processes share: /dev/shm/latch-UID/locks
     * @param int         $capacity number of locks, held or waited for, that a new file has room for: 1 to
     *                              16777216. Each takes 160 bytes of memory, held or not; a process takes room for
     *                              32 at a time. A file that exists keeps its capacity
     * @param int         $mode     permissions of a new file, whatever the umask: 0600, or 0660 and 0666 to share it
     *                              with the group or all users. A file that exists keeps its mode
     *
     * @throws \Latch\Exception\InvalidArgumentException when an argument is out of range, the path not absolute, or
     *                                                   outside of open_basedir
     * @throws \Latch\Exception\LockStorageException     when the file cannot be made, opened or used
     */
    public function __construct(#[\SensitiveParameter] ?string $path = null, int $capacity = 65536, int $mode = 0600) {}

    /**
     * @throws \Latch\Exception\LockStorageException when the file is full, or cannot be used any more
     *
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
     * Tells who holds the lock, and how many wait for it.
     *
     * A snapshot: the state may have changed when the method returns.
     *
     * @return array{name: string, mode: 'exclusive'|'shared'|null, holders: list<array{pid: int|null, host: string|null, script: string|null, since: float|null, remaining: null, fencingToken: int|null, id: string}>, holderCount: int, waiters: int}
     *         name: the resource; mode: null when the lock is free; holders: at most 100 of holderCount; pid: null in
     *         another PID namespace, as that of a container; host and script: null with latch.holder_note = 0, and
     *         untrusted text, which any program with access to the file can write; since: seconds since 1970; id:
     *         for forceRelease()
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}

    /**
     * Lists the locks of the file that are held, in no order. Names are complete up to 64 bytes, then cut, with
     * "..." at the end. For each lock the remarks on inspect() apply.
     *
     * @return list<array{name: string, mode: 'exclusive'|'shared', holders: list<array{pid: int|null, host: string|null, script: string|null, since: float|null, remaining: null, fencingToken: int|null, id: string}>, holderCount: int, waiters: int}>
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::listHeld
     */
    public function listHeld(): array {}

    /**
     * Takes the lock away from holders, as RedisStore::forceRelease(): they get no message. isHeld(), isAcquired()
     * and refresh() of a former holder know it at once, onLost() after a second if the lock is kept alive. A holder
     * that has died needs no such call.
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
