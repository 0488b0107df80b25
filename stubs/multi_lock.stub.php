<?php

/** @generate-class-entries */

namespace Latch;

/**
 * Locks on several resources, all of them or none: each method is about all members at once. Made by
 * LockFactory::createMultiLock().
 *
 * @strict-properties
 */
final class MultiLock implements SharedLockInterface
{
    private function __construct() {}

    /**
     * @return never
     *
     * @throws \BadMethodCallException always
     *
     * @implementation-alias Latch\Lock::__serialize
     */
    public function __serialize(): array {}

    /**
     * @phpstan-param array<mixed> $data
     *
     * @return never
     *
     * @throws \BadMethodCallException always
     *
     * @implementation-alias Latch\Lock::__unserialize
     */
    public function __unserialize(array $data): void {}

    /**
     * Acquires all members, each for reading or writing as createMultiLock() was told; or none. While it
     * waits for a member, the others are free for other processes.
     *
     * Of a MultiLock that is held it renews all members, and promotes those that acquireRead() has taken. A
     * promotion does not wait for other readers, whatever $blocking says: call release() before.
     *
     * @param bool       $blocking wait until all members are free
     * @param float|null $timeout  with $blocking: wait this many seconds at most, >= 0; null = for ever
     *
     * @return bool false when another holder has a member, or had one until the timeout
     *
     * @throws Exception\InvalidArgumentException when $timeout is negative, NAN, or without $blocking
     * @throws Exception\LockConflictedException  when a promotion with $blocking, without timeout, is refused
     * @throws Exception\LockAcquiringException   when a member cannot be acquired, also when only the waiting
     *                                            thread itself could end the wait; none is held then
     * @throws Exception\LockExpiredException     when a member expired before the last one was acquired
     */
    public function acquire(bool $blocking = false, ?float $timeout = null): bool {}

    /**
     * Acquires all members for reading, or none; demotes those that are held for writing.
     *
     * @param bool       $blocking wait until no writer holds a member
     * @param float|null $timeout  as for acquire()
     *
     * @return bool false when a writer holds a member, or held one until the timeout
     *
     * @throws Exception\InvalidArgumentException when $timeout is negative, NAN, or without $blocking
     * @throws Exception\LockAcquiringException   as for acquire()
     * @throws Exception\LockExpiredException     as for acquire()
     */
    public function acquireRead(bool $blocking = false, ?float $timeout = null): bool {}

    /**
     * Acquires all members, calls $callback, and releases them, also when $callback throws. What this object
     * holds already is left as it is afterwards.
     *
     * @template T
     *
     * @param callable   $callback called without arguments
     * @param float|null $timeout  seconds to wait for the members at most, >= 0; null = for ever
     *
     * @phpstan-param callable(): T $callback
     *
     * @return T the return value of $callback
     *
     * @throws Exception\LockConflictedException when the members were not free before the timeout
     * @throws Exception\LockAcquiringException  as for acquire()
     * @throws Exception\LockExpiredException    when a member was lost before $callback returned:
     *                                           getResult() has the callback's return value
     * @throws Exception\LockReleasingException  when a member cannot be released; after a loss,
     *                                           getPrevious() is the LockExpiredException
     */
    public function synchronized(callable $callback, ?float $timeout = null): mixed {}

    /**
     * Renews all members for $ttl seconds from now.
     *
     * @param float|null $ttl seconds, > 0; null = the TTL of createMultiLock()
     *
     * @throws Exception\InvalidTtlException     when $ttl is negative or not finite
     * @throws Exception\LockConflictedException when another holder has a member: the whole is lost then, and
     *                                           the other members are held until release()
     * @throws Exception\LockAcquiringException  when a member cannot be renewed
     */
    public function refresh(?float $ttl = null): void {}

    /** Asks the store whether all members are held. */
    public function isAcquired(): bool {}

    /**
     * Whether all members are held for certain, without asking the store, as Lock::isHeld().
     *
     * @phpstan-impure
     */
    public function isHeld(): bool {}

    /**
     * The members' fencing tokens, as of Lock::getFencingToken(), by resource.
     *
     * @phpstan-impure
     *
     * @return array<int|string, int|null> null: the member is held for reading, or not at all, or its store
     *                                     has no such numbers
     */
    public function getFencingTokens(): array {}

    /**
     * Renews all members in the background, as Lock::keepAlive().
     *
     * @param float|null $maxHold seconds after an acquire at which renewal ends, > 0; null = the setting
     *                            latch.max_hold, by default without a limit
     *
     * @throws Exception\InvalidArgumentException when $maxHold is out of its range, or a thread cannot renew
     *                                            locks of this store: it is written in PHP, or uses a
     *                                            connection object of PHP
     * @throws Exception\LockStorageException     when there is no thread, or memory, for it
     */
    public function keepAlive(?float $maxHold = null): static {}

    /**
     * Calls $callback once when the first member is known to be lost, as Lock::onLost(). The other members
     * are held until release(), as the work that they protect may still go on.
     *
     * @param callable $callback called with this MultiLock, and with the reason, a clause that names the
     *                           member: 'member "a": its time is over'
     *
     * @phpstan-param callable(MultiLock, string): mixed $callback
     *
     * @throws Exception\InvalidArgumentException when a thread cannot watch locks of this store, as for
     *                                            keepAlive()
     * @throws Exception\LockStorageException     when there is no thread, or memory, for it
     */
    public function onLost(callable $callback): static {}

    /**
     * Releases all members, also when one of them cannot be released.
     *
     * @throws Exception\LockReleasingException of the first member that cannot be released
     */
    public function release(): void {}

    /** Whether a member has expired. */
    public function isExpired(): bool {}

    /** Seconds until the first member expires; null when none does. */
    public function getRemainingLifetime(): ?float {}

    /**
     * What happened to the multi-locks of this process (in a thread-safe PHP: of this thread) since it
     * started. `acquired` and `conflicts` count the multi-lock once, however many members it has, and however
     * often they were tried. `waits`, `waitSeconds`, `releasedAtShutdown` and `lost` count its members: waits
     * for a member, members that were released automatically at the end of the script, members that were
     * found lost. Else they are those of Lock::getStatistics(), which does not count members.
     *
     * @phpstan-impure
     *
     * @return array{acquired: int, conflicts: int, waits: int, waitSeconds: float, releasedAtShutdown: int, lost: int}
     */
    public static function getStatistics(): array {}

    /**
     * Resources with their modes, TTL and whether all are held.
     *
     * @return array<string, mixed>
     */
    public function __debugInfo(): array {}
}
