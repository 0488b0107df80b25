<?php

/** @generate-class-entries */

namespace Latch;

/*
 * Return types are tentative: a store that was written for an older Symfony declares none, and must
 * still load in drop-in mode.
 */

interface LockInterface
{
    /**
     * Acquires the lock, exclusively.
     *
     * @param bool $blocking wait until the lock is free
     *
     * @return bool false when another holder has the lock
     *
     * @throws Exception\LockConflictedException when a blocking acquire ends in a conflict
     * @throws Exception\LockAcquiringException  when the lock cannot be acquired
     * @throws Exception\LockExpiredException    when a lock is lost meanwhile, with
     *                                           latch.throw_on_lost
     *
     * @phpstan-impure
     * @tentative-return-type
     */
    public function acquire(bool $blocking = false): bool;

    /**
     * Renews the lock for $ttl seconds from now.
     *
     * @param float|null $ttl seconds, > 0; null = the TTL of the lock's construction
     *
     * @throws Exception\LockConflictedException when another holder has the lock
     * @throws Exception\LockAcquiringException  when the lock cannot be renewed
     *
     * @tentative-return-type
     */
    public function refresh(?float $ttl = null): void;

    /**
     * Asks the store whether this lock is held.
     *
     * @phpstan-impure
     * @tentative-return-type
     */
    public function isAcquired(): bool;

    /**
     * Releases the lock. Does nothing when it is not held.
     *
     * @throws Exception\LockReleasingException when the lock cannot be released
     *
     * @tentative-return-type
     */
    public function release(): void;

    /**
     * Whether the lock has expired.
     *
     * @phpstan-impure
     * @tentative-return-type
     */
    public function isExpired(): bool;

    /**
     * Seconds until the lock expires; null when it does not.
     *
     * @phpstan-impure
     * @tentative-return-type
     */
    public function getRemainingLifetime(): ?float;
}

interface SharedLockInterface extends LockInterface
{
    /**
     * Acquires the lock for reading, beside other readers.
     *
     * @param bool $blocking wait until no writer holds the lock
     *
     * @return bool false when a writer holds the lock
     *
     * @throws Exception\LockConflictedException when a blocking acquire ends in a conflict
     * @throws Exception\LockAcquiringException  when the lock cannot be acquired
     * @throws Exception\LockExpiredException    when a lock is lost meanwhile, with
     *                                           latch.throw_on_lost
     *
     * @phpstan-impure
     * @tentative-return-type
     */
    public function acquireRead(bool $blocking = false): bool;
}

interface PersistingStoreInterface
{
    /**
     * Stores the key's lock, unless another holder has it.
     *
     * @throws Exception\LockAcquiringException
     * @throws Exception\LockConflictedException
     * @throws Exception\LockExpiredException when the lock expired before the call ended
     *
     * @tentative-return-type
     */
    public function save(Key $key): void;

    /**
     * Removes the key's lock; does nothing when another holder has it.
     *
     * @throws Exception\LockReleasingException
     *
     * @tentative-return-type
     */
    public function delete(Key $key): void;

    /**
     * Whether the key has the lock.
     *
     * @phpstan-impure
     * @tentative-return-type
     */
    public function exists(Key $key): bool;

    /**
     * Makes the key's lock expire in $ttl seconds from now.
     *
     * @param float $ttl seconds, > 0
     *
     * @throws Exception\LockConflictedException
     * @throws Exception\LockExpiredException as for save()
     *
     * @tentative-return-type
     */
    public function putOffExpiration(Key $key, float $ttl): void;
}

interface BlockingStoreInterface extends PersistingStoreInterface
{
    /**
     * Waits until the lock is free, then stores it.
     *
     * @throws Exception\LockConflictedException
     * @throws Exception\LockExpiredException as for save()
     *
     * @tentative-return-type
     */
    public function waitAndSave(Key $key): void;
}

interface SharedLockStoreInterface extends PersistingStoreInterface
{
    /**
     * Stores the key's lock for reading, unless a writer has it.
     *
     * @throws Exception\LockConflictedException
     * @throws Exception\LockExpiredException as for save()
     *
     * @tentative-return-type
     */
    public function saveRead(Key $key): void;
}

interface BlockingSharedLockStoreInterface extends SharedLockStoreInterface
{
    /**
     * Waits until no writer has the lock, then stores it for reading.
     *
     * @throws Exception\LockConflictedException
     * @throws Exception\LockExpiredException as for save()
     *
     * @tentative-return-type
     */
    public function waitAndSaveRead(Key $key): void;
}
