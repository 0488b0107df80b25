<?php

/** @generate-class-entries */

namespace Latch;

/**
 * One holder's lock on one resource. A clone shares the key, and with it the lock: any of them releases
 * it by release(); automatically, the last one that has it does when it ends.
 *
 * @strict-properties
 */
final class Lock implements SharedLockInterface
{
    /**
     * @param float|null $ttl         seconds after which the lock expires, where the store lets locks
     *                                expire; null or 0 = never
     * @param bool       $autoRelease release the lock when this object, or the script, ends
     *
     * @throws Exception\InvalidTtlException when $ttl is negative or not finite
     */
    public function __construct(Key $key, PersistingStoreInterface $store, ?float $ttl = null, bool $autoRelease = true) {}

    /**
     * @return never
     *
     * @throws \BadMethodCallException always
     */
    public function __serialize(): array {}

    /**
     * @phpstan-param array<mixed> $data
     *
     * @return never
     *
     * @throws \BadMethodCallException always
     */
    public function __unserialize(array $data): void {}

    /**
     * Releases the lock if it is to be released automatically, this process acquired it, and no clone of
     * this object has it, too.
     */
    public function __destruct() {}

    /** The logger of what this lock does. */
    public function setLogger(\Psr\Log\LoggerInterface $logger): void {}

    /**
     * Acquires the lock, exclusively; promotes a lock that is held for reading. A promotion that fails
     * keeps that, but on FlockStore a writer may have been there meanwhile: read anew.
     *
     * @param bool       $blocking wait until the lock is free
     * @param float|null $timeout  with $blocking: wait this many seconds at most, >= 0; null = for ever
     *
     * @return bool false when somebody else holds the lock, or held it until the timeout
     *
     * @throws Exception\InvalidArgumentException when $timeout is negative, NAN, or without $blocking
     * @throws Exception\LockConflictedException  when a blocking acquire without timeout conflicts
     * @throws Exception\LockAcquiringException   when the lock cannot be acquired, also when only
     *                                            this very thread could end the wait for it
     * @throws Exception\LockExpiredException     when a lock is lost meanwhile that latch.throw_on_lost is
     *                                            to tell of
     */
    public function acquire(bool $blocking = false, ?float $timeout = null): bool {}

    /**
     * Acquires the lock for reading, beside other readers; demotes a lock that is held exclusively.
     *
     * @param bool       $blocking wait until no writer holds the lock
     * @param float|null $timeout  as for acquire()
     *
     * @return bool false when a writer holds the lock, or held it until the timeout
     *
     * @throws Exception\InvalidArgumentException when $timeout is negative, NAN, or without $blocking
     * @throws Exception\LockConflictedException  when a blocking acquire without timeout conflicts
     * @throws Exception\LockAcquiringException   as for acquire()
     * @throws Exception\LockExpiredException     as for acquire()
     */
    public function acquireRead(bool $blocking = false, ?float $timeout = null): bool {}

    /**
     * Acquires the lock, calls $callback, and releases the lock, also when $callback throws. A lock
     * that this object holds already is left as it is afterwards.
     *
     * @template T
     *
     * @param callable   $callback called without arguments
     * @param float|null $timeout  seconds to wait for the lock at most, >= 0; null = for ever
     *
     * @phpstan-param callable(): T $callback
     *
     * @return T what $callback returned
     *
     * @throws Exception\LockConflictedException when the lock was not free before the timeout
     * @throws Exception\LockAcquiringException  as for acquire()
     * @throws Exception\LockExpiredException    when the lock was lost before $callback returned: its
     *                                           getResult() has what that returned
     * @throws Exception\LockReleasingException  when the lock cannot be released; after a loss,
     *                                           getPrevious() is the LockExpiredException
     */
    public function synchronized(callable $callback, ?float $timeout = null): mixed {}

    /**
     * Renews the lock for $ttl seconds from now.
     *
     * @param float|null $ttl seconds, > 0; null = the TTL that the lock was made with
     *
     * @throws Exception\InvalidTtlException     when $ttl is negative or not finite
     * @throws Exception\LockConflictedException when somebody else holds the lock
     * @throws Exception\LockAcquiringException  when the lock cannot be renewed
     */
    public function refresh(?float $ttl = null): void {}

    public function isAcquired(): bool {}

    /**
     * Whether the lock is held for certain, without asking the store: false from the instant at which
     * anybody else could hold it, counted on the monotonic clock from when the acquiring or renewing
     * command was sent. So it is false once a lock without automatic release is shared with a forked
     * process, where it may be released at any time; ask isAcquired() then.
     *
     * @phpstan-impure
     */
    public function isHeld(): bool {}

    /**
     * A number that is greater than that of every earlier exclusive holder of this resource, to be
     * sent along with what is written under the lock, so that a writer whose lock has run out can be
     * refused. It belongs to this lock until that is released or taken anew, also when it has expired.
     *
     * @return int|null null when the lock is not held exclusively, or its store has no such numbers
     *                  (only RedisStore has)
     *
     * @phpstan-impure
     */
    public function getFencingToken(): ?int {}

    /**
     * Renews the lock in the background from now on, and whenever it is acquired again: each third of its
     * TTL, also while PHP is busy or blocked, until it is released or this object is gone. So the TTL may be
     * short: it says how long others wait for the lock if this process dies. Where locks do not expire
     * nothing has to be renewed; there as elsewhere onLost() tells when the lock is lost all the same.
     *
     * @param float|null $maxHold seconds after an acquire beyond which the lock is not renewed, > 0; null =
     *                            what latch.max_hold says, by default without end
     *
     * @throws Exception\InvalidArgumentException when $maxHold is out of its range, or a thread cannot renew
     *                                            locks of this store: one that is written in PHP, or has a
     *                                            connection object of PHP's
     * @throws Exception\LockStorageException     when there is no thread, or memory, for it
     */
    public function keepAlive(?float $maxHold = null): static {}

    /**
     * Calls $callback when the lock is known to be lost: it was held, and is not any more, though nobody
     * here has released it. That is as soon as PHP code runs again, also in the middle of a wait for
     * another lock. It may throw; it cannot suspend a fiber. With several callbacks each is called.
     *
     * @param callable $callback called with this Lock, and with what has happened to it: a clause for a
     *                           message, such as "its time is over"
     *
     * @phpstan-param callable(Lock, string): mixed $callback
     *
     * @throws Exception\InvalidArgumentException when a thread cannot watch locks of this store, as for
     *                                            keepAlive()
     * @throws Exception\LockStorageException     when there is no thread, or memory, for it
     */
    public function onLost(callable $callback): static {}

    public function release(): void {}

    public function isExpired(): bool {}

    public function getRemainingLifetime(): ?float {}

    /**
     * What happened to locks in this process since it started; in a thread-safe PHP, in this thread. A
     * forked child starts with zeros. phpinfo() shows the same. All stores are counted: by Lock, and
     * by the methods of a store of Latch's that are called by hand. A store written in PHP counts as
     * one, however many others it uses.
     *
     * - acquired: acquires that succeeded: the lock was free, was promoted, demoted, or held already
     * - conflicts: acquires that ended without the lock because somebody else held it, at once or at
     *   the end of a wait
     * - waits: acquires that found the lock taken and waited for it, whatever came of it
     * - waitSeconds: how long they waited together. What a store written in PHP does within its own
     *   waitAndSave() is not known, and neither here nor among the waits
     * - releasedAtShutdown: locks that the script had not released when it ended, in whatever way, and
     *   that were released for it
     * - lost: locks that this process held, by all that it knew, and that it found expired or gone:
     *   when it acquired (also promoted) or refreshed them, in isAcquired(), at the end of
     *   synchronized(), or as soon as that happened, with keepAlive() or onLost()
     *
     * @phpstan-impure
     *
     * @return array{acquired: int, conflicts: int, waits: int, waitSeconds: float, releasedAtShutdown: int, lost: int}
     */
    public static function getStatistics(): array {}

    /**
     * Resource, TTL and whether the lock is held.
     *
     * @return array<string, mixed>
     */
    public function __debugInfo(): array {}
}
