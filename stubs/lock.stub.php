<?php

/** @generate-class-entries */

namespace Latch;

/**
 * One holder's lock on one resource. A clone shares the key, and with it the lock: release() on any of
 * them releases the lock; automatic release happens at the end of the last one.
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

    /** The logger for this lock's actions. */
    public function setLogger(\Psr\Log\LoggerInterface $logger): void {}

    /**
     * Acquires the lock, exclusively; promotes a lock that is held for reading. A failed promotion keeps
     * the shared lock, but on FlockStore a writer may have held the lock meanwhile: read the data again.
     *
     * @param bool       $blocking wait until the lock is free
     * @param float|null $timeout  with $blocking: wait this many seconds at most, >= 0; null = for ever
     *
     * @return bool false when another holder has the lock, or had it until the timeout
     *
     * @throws Exception\InvalidArgumentException when $timeout is negative, NAN, or without $blocking
     * @throws Exception\LockConflictedException  when a blocking acquire without timeout conflicts
     * @throws Exception\LockAcquiringException   when the lock cannot be acquired, also when only
     *                                            the waiting thread itself could end the wait
     * @throws Exception\LockExpiredException     when a lock is lost meanwhile, with latch.throw_on_lost
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
     * @return T the return value of $callback
     *
     * @throws Exception\LockConflictedException when the lock was not free before the timeout
     * @throws Exception\LockAcquiringException  as for acquire()
     * @throws Exception\LockExpiredException    when the lock was lost before $callback returned:
     *                                           getResult() has the callback's return value
     * @throws Exception\LockReleasingException  when the lock cannot be released; after a loss,
     *                                           getPrevious() is the LockExpiredException
     */
    public function synchronized(callable $callback, ?float $timeout = null): mixed {}

    /**
     * Renews the lock for $ttl seconds from now.
     *
     * @param float|null $ttl seconds, > 0; null = the TTL of the lock's construction. In a RedisStringStore
     *                        without an initial TTL 0 = for ever, too
     *
     * @throws Exception\InvalidTtlException     when $ttl is negative or not finite
     * @throws Exception\LockConflictedException when another holder has the lock
     * @throws Exception\LockAcquiringException  when the lock cannot be renewed
     */
    public function refresh(?float $ttl = null): void {}

    public function isAcquired(): bool {}

    /**
     * Whether the lock is held for certain, without asking the store: false from the instant at which
     * another process could have the lock, counted on the monotonic clock from the sending of the acquiring
     * or renewing command. So it is false once a lock without automatic release is shared with a forked
     * process, which may release it at any time; ask isAcquired() then.
     *
     * @phpstan-impure
     */
    public function isHeld(): bool {}

    /**
     * A number that is greater than that of every earlier exclusive holder of this resource. Send it along
     * with each write, so that the receiver can refuse a writer whose lock has expired. The number belongs
     * to this lock until a release or another acquire, also after the expiry.
     *
     * @return int|null null when the lock is not held exclusively, or its store has no such numbers
     *                  (only RedisStore has)
     *
     * @phpstan-impure
     */
    public function getFencingToken(): ?int {}

    /**
     * Renews the lock in the background from now on, and whenever it is acquired again: each third of its
     * TTL, also while PHP is busy or blocked, until its release or the end of this object. So the TTL can be
     * short: it limits how long others wait for the lock if this process dies. Locks that do not expire need
     * no renewal; for them, too, onLost() reports a loss.
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
     * Calls $callback when the lock is known to be lost: it was held, and is not any more, without a release
     * by this process. The call happens as soon as PHP code runs again, also in the middle of a wait for
     * another lock. The callback may throw; it cannot suspend a fiber. With several callbacks each is called.
     *
     * @param callable $callback called with this Lock, and with the reason of the loss: a clause for a
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

    /**
     * Releases the lock, as release() does, and tells whether it was held until then: by the answer of a store
     * that has one (RedisStore, RedisStringStore; true where the connection was lost meanwhile, as it is unknown
     * then), else as isHeld() before.
     *
     * @throws Exception\LockReleasingException when the lock cannot be released
     */
    public function releaseIfHeld(): bool {}

    public function isExpired(): bool {}

    public function getRemainingLifetime(): ?float {}

    /**
     * Counters of this process since its start; in a thread-safe PHP, of this thread. A forked child starts
     * with zeros. phpinfo() shows the same. The counters include all stores: used by Lock, and direct calls
     * of the methods of a store of Latch. A store written in PHP counts as one, whatever stores it uses.
     * Semaphores and multi-locks have counters of their own.
     *
     * - acquired: acquires that succeeded: the lock was free, was promoted, demoted, or held already
     * - conflicts: acquires that ended without the lock because another holder had it, at once or at the
     *   end of a wait
     * - waits: acquires that found the lock taken and waited for it, successful or not
     * - waitSeconds: the sum of their waiting times. Waits of a store written in PHP within its own
     *   waitAndSave() are unknown, and in neither counter
     * - releasedAtShutdown: locks that the script had not released at its end, for whatever reason, and
     *   that were released automatically
     * - lost: locks that this process believed to hold, and found expired or gone: when it acquired (also
     *   promoted) or refreshed them, in isAcquired(), at the end of synchronized(), or at once, with
     *   keepAlive() or onLost()
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
