<?php

/** @generate-class-entries */

namespace Latch\Semaphore\Store;

/**
 * Semaphores as slots: the permits of the semaphore NAME are the locks NAME_0, NAME_1 … in a store of locks, as in
 * Symfony's LockStore (8.1), with which it shares them. Any store of locks will do but a CombinedStore.
 *
 * A holder that dies leaves its permits as it would leave a lock: those in files are free at once, those in a
 * database with its session, those in Redis when they expire. There is no queue: waits ask again after 5 ms to
 * 100 ms. In stores whose locks do not expire permits do not either.
 *
 * Locks in a store written in PHP, or of a factory that overrides createLock(), are Lock objects in the key's
 * state, as in Symfony's class; they are taken, renewed and released by their methods.
 *
 * @not-serializable
 */
final class LockStore implements \Latch\Semaphore\PersistingStoreInterface
{
    private readonly \Latch\LockFactory $lockFactory;

    /**
     * @throws \Latch\Semaphore\Exception\InvalidArgumentException when the factory's store is a CombinedStore
     */
    public function __construct(\Latch\LockFactory $lockFactory) {}

    /** @tentative-return-type */
    public function save(\Latch\Semaphore\Key $key, float $ttlInSecond): void {}

    /** @tentative-return-type */
    public function delete(\Latch\Semaphore\Key $key): void {}

    public function exists(\Latch\Semaphore\Key $key): bool {}

    /** @tentative-return-type */
    public function putOffExpiration(\Latch\Semaphore\Key $key, float $ttlInSecond): void {}

    /**
     * Tells which permits of the key's semaphore are held: it looks at as many locks as the key's limit says. A
     * snapshot.
     *
     * @return array{name: string, used: int, holders: list<array{pid?: int|null, session?: int, weight: int, limit: null, ...}>, holderCount: int, waiters: int}
     *         holders: those of the locks, as inspect() of their store tells them; one with several of them once,
     *         with that weight, except in Redis; empty also when they are unknown
     *
     * @throws \Latch\Semaphore\Exception\SemaphoreStorageException
     */
    public function inspect(\Latch\Semaphore\Key $key): array {}
}
