<?php

/** @generate-class-entries */

namespace Latch\Semaphore;

/*
 * Return types are tentative: a class that was written for an older Symfony declares none, and must
 * go on loading in drop-in mode.
 */

interface SemaphoreInterface
{
    /**
     * Acquires the permits, if there are enough of them.
     *
     * @return bool false when others hold too many
     *
     * @throws Exception\RuntimeException          when the permits cannot be acquired
     * @throws Exception\SemaphoreExpiredException when permits are lost meanwhile that latch.throw_on_lost is
     *                                             to tell of
     *
     * @phpstan-impure
     * @tentative-return-type
     */
    public function acquire(): bool;

    /**
     * Renews the permits for $ttlInSecond seconds from now.
     *
     * @param float|null $ttlInSecond seconds, > 0; null = the TTL that the semaphore was made with
     *
     * @throws Exception\SemaphoreExpiredException when the permits are not held, or not any more
     * @throws Exception\RuntimeException          when the permits cannot be renewed
     *
     * @tentative-return-type
     */
    public function refresh(?float $ttlInSecond = null): void;

    /**
     * Asks the store whether the permits are held.
     *
     * @phpstan-impure
     * @tentative-return-type
     */
    public function isAcquired(): bool;

    /**
     * Gives the permits back. Does nothing when they are not held.
     *
     * @throws Exception\SemaphoreReleasingException when a store written in PHP cannot give them back
     * @throws Exception\RuntimeException            when they cannot be given back
     *
     * @tentative-return-type
     */
    public function release(): void;

    /**
     * Whether the permits have expired.
     *
     * @phpstan-impure
     * @tentative-return-type
     */
    public function isExpired(): bool;

    /**
     * Seconds until the permits expire; null when they do not.
     *
     * @phpstan-impure
     * @tentative-return-type
     */
    public function getRemainingLifetime(): ?float;
}

interface PersistingStoreInterface
{
    /**
     * Stores the key's permits for $ttlInSecond seconds, unless others hold too many. Permits that are held
     * already keep their weight.
     *
     * @param float $ttlInSecond seconds, > 0
     *
     * @throws Exception\SemaphoreAcquiringException when others hold too many
     *
     * @tentative-return-type
     */
    public function save(Key $key, float $ttlInSecond): void;

    /**
     * Removes the key's permits; does nothing when they are not there.
     *
     * @throws Exception\SemaphoreReleasingException
     *
     * @tentative-return-type
     */
    public function delete(Key $key): void;

    /**
     * Whether the key has its permits.
     *
     * @phpstan-impure
     * @tentative-return-type
     */
    public function exists(Key $key): bool;

    /**
     * Lets the key's permits expire in $ttlInSecond seconds from now.
     *
     * @param float $ttlInSecond seconds, > 0
     *
     * @throws Exception\SemaphoreExpiredException when the key has none
     *
     * @tentative-return-type
     */
    public function putOffExpiration(Key $key, float $ttlInSecond): void;
}

/**
 * One holder's permits of one counting semaphore: as many as its key's weight says, all at once or none.
 * Others may hold the rest of the semaphore's limit. A clone shares the key, and with it the permits: any of
 * them gives them back by release(); automatically, the last one that has them does when it ends.
 *
 * @strict-properties
 */
final class Semaphore implements SemaphoreInterface
{
    /**
     * @param float $ttlInSecond seconds after which the permits expire, > 0, where the store lets them expire
     * @param bool  $autoRelease give the permits back when this object, or the script, ends
     *
     * @throws Exception\InvalidArgumentException when $ttlInSecond is not a finite number above 0
     */
    public function __construct(Key $key, PersistingStoreInterface $store, float $ttlInSecond = 300.0, bool $autoRelease = true) {}

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
     * Gives the permits back if that is to be done automatically, this process acquired them, and no clone of
     * this object has them, too.
     *
     * @implementation-alias Latch\Lock::__destruct
     */
    public function __destruct() {}

    /**
     * The logger of what this semaphore does.
     *
     * @implementation-alias Latch\Lock::setLogger
     */
    public function setLogger(\Psr\Log\LoggerInterface $logger): void {}

    /**
     * Acquires the permits. Who waits stands in a queue: permits go to its head, when there are enough of them
     * for that; nobody overtakes it, however few others want, but those with overtaking().
     *
     * A wait for permits of which this very thread holds the rest does not end by itself: give it a timeout.
     * InMemoryStore refuses it without one.
     *
     * @param bool       $blocking wait until there are enough permits
     * @param float|null $timeout  with $blocking: wait this many seconds at most, >= 0; null = for ever
     *
     * @return bool false when others hold too many permits, or held them until the timeout
     *
     * @throws Exception\InvalidArgumentException  when $timeout is negative, NAN, or without $blocking
     * @throws Exception\RuntimeException          when the permits cannot be acquired
     * @throws Exception\SemaphoreExpiredException when permits are lost meanwhile that latch.throw_on_lost is
     *                                             to tell of
     *
     * @implementation-alias Latch\Lock::acquire
     */
    public function acquire(bool $blocking = false, ?float $timeout = null): bool {}

    /**
     * Acquires the permits, calls $callback, and gives them back, also when $callback throws. Permits that
     * this object holds already are kept afterwards.
     *
     * @template T
     *
     * @param callable   $callback called without arguments
     * @param float|null $timeout  seconds to wait for the permits at most, >= 0; null = for ever
     *
     * @phpstan-param callable(): T $callback
     *
     * @return T what $callback returned
     *
     * @throws Exception\SemaphoreAcquiringException when there were too few permits until the timeout
     * @throws Exception\SemaphoreExpiredException   when the permits were lost before $callback returned: its
     *                                               getResult() has what that returned
     * @throws Exception\RuntimeException            when the permits cannot be acquired or given back; after a
     *                                               loss, getPrevious() is the SemaphoreExpiredException
     *
     * @implementation-alias Latch\Lock::synchronized
     */
    public function synchronized(callable $callback, ?float $timeout = null): mixed {}

    /**
     * Renews the permits for $ttlInSecond seconds from now.
     *
     * @param float|null $ttlInSecond seconds, > 0; null = the TTL that the semaphore was made with
     *
     * @throws Exception\InvalidArgumentException  when $ttlInSecond is not a finite number above 0
     * @throws Exception\SemaphoreExpiredException when the permits are not held, or not any more
     * @throws Exception\RuntimeException          when the permits cannot be renewed
     *
     * @implementation-alias Latch\Lock::refresh
     */
    public function refresh(?float $ttlInSecond = null): void {}

    /** @implementation-alias Latch\Lock::isAcquired */
    public function isAcquired(): bool {}

    /**
     * Whether the permits are held for certain, without asking the store: false from the instant at which
     * anybody else could hold them, counted on the monotonic clock from when the acquiring or renewing
     * command was sent. So it is false once permits without automatic release are shared with a forked
     * process, where they may be given back at any time; ask isAcquired() then.
     *
     * @phpstan-impure
     *
     * @implementation-alias Latch\Lock::isHeld
     */
    public function isHeld(): bool {}

    /**
     * Asks the store how many permits are free, by this semaphore's limit: the limit less the permits of all
     * holders, this one included; 0 where others have named a higher limit and hold more. A snapshot, for
     * displays and decisions beforehand: free permits go to waiters first, and acquire() may find none.
     *
     * @phpstan-impure
     *
     * @throws Exception\SemaphoreStorageException when the store cannot be asked
     * @throws Exception\RuntimeException          when the store is written in PHP
     */
    public function available(): int {}

    /**
     * Lets the acquires of this object pass waiters at the head of the queue that want more permits than are free:
     * for light, short tasks beside heavy ones. Those that come all the time can starve a heavy waiter. Not of
     * Symfony's component, whose processes take what is free in any case; without effect in stores that have no
     * queue: other ones than RedisStore.
     *
     * @param bool $overtaking false: waits for its turn again, as without this call
     */
    public function overtaking(bool $overtaking = true): static {}

    /**
     * Renews the permits in the background from now on, and whenever they are acquired again: each third of
     * their TTL, also while PHP is busy or blocked, until they are given back or this object is gone. So the
     * TTL may be short: it says how long the permits are missing if this process dies.
     *
     * @param float|null $maxHold seconds after an acquire beyond which the permits are not renewed, > 0; null =
     *                            what latch.max_hold says, by default without end
     *
     * @throws Exception\InvalidArgumentException  when $maxHold is out of its range, or a thread cannot renew
     *                                             permits of this store: one that is written in PHP, or has a
     *                                             connection object of PHP's
     * @throws Exception\SemaphoreStorageException when there is no thread, or memory, for it
     *
     * @implementation-alias Latch\Lock::keepAlive
     */
    public function keepAlive(?float $maxHold = null): static {}

    /**
     * Calls $callback when the permits are known to be lost: they were held, and are not any more, though
     * nobody here has given them back. That is as soon as PHP code runs again, also in the middle of a wait.
     * It may throw; it cannot suspend a fiber. With several callbacks each is called.
     *
     * @param callable $callback called with this Semaphore, and with what has happened: a clause for a
     *                           message, such as "its time is over"
     *
     * @phpstan-param callable(Semaphore, string): mixed $callback
     *
     * @throws Exception\InvalidArgumentException  when a thread cannot watch permits of this store, as for
     *                                             keepAlive()
     * @throws Exception\SemaphoreStorageException when there is no thread, or memory, for it
     *
     * @implementation-alias Latch\Lock::onLost
     */
    public function onLost(callable $callback): static {}

    /** @implementation-alias Latch\Lock::release */
    public function release(): void {}

    /** @implementation-alias Latch\Lock::isExpired */
    public function isExpired(): bool {}

    /** @implementation-alias Latch\Lock::getRemainingLifetime */
    public function getRemainingLifetime(): ?float {}

    /**
     * What happened to the semaphores of this process (in a thread-safe PHP: of this thread) since it started,
     * counted as Lock::getStatistics() counts locks: a Semaphore counts once, whatever its weight, and does
     * not count as a lock; nor do the locks that are its slots, unless their store or factory is written in PHP.
     *
     * @phpstan-impure
     *
     * @return array{acquired: int, conflicts: int, waits: int, waitSeconds: float, releasedAtShutdown: int, lost: int}
     */
    public static function getStatistics(): array {}

    /**
     * Resource, TTL and whether the permits are held.
     *
     * @return array<string, mixed>
     *
     * @implementation-alias Latch\Lock::__debugInfo
     */
    public function __debugInfo(): array {}
}

/** Makes semaphores of one store. */
class SemaphoreFactory
{
    private PersistingStoreInterface $store;
    protected ?\Psr\Log\LoggerInterface $logger = null;

    public function __construct(PersistingStoreInterface $store) {}

    /**
     * The logger of the semaphores that are made from now on.
     *
     * @implementation-alias Latch\LockFactory::setLogger
     */
    public function setLogger(\Psr\Log\LoggerInterface $logger): void {}

    /**
     * @param string     $resource    the semaphore: any bytes, not empty
     * @param int        $limit       permits that the semaphore has, 1 to 2^53; say the same everywhere
     * @param int        $weight      permits that are acquired together, 1 to $limit
     * @param float|null $ttlInSecond seconds after which the permits expire, > 0; null = 300
     * @param bool       $autoRelease give the permits back when the object, or the script, ends
     *
     * @return Semaphore
     *
     * @throws Exception\InvalidArgumentException when $limit, $weight or $ttlInSecond is out of its range, or
     *                                            $resource is empty; the latter not under Symfony's names
     */
    public function createSemaphore(string $resource, int $limit, int $weight = 1, ?float $ttlInSecond = 300.0, bool $autoRelease = true): SemaphoreInterface {}

    /**
     * @param Key        $key         a new key, or one that another process handed over
     * @param float|null $ttlInSecond seconds after which the permits expire, > 0; null = 300
     * @param bool       $autoRelease give the permits back when the object, or the script, ends
     *
     * @return Semaphore
     *
     * @throws Exception\InvalidArgumentException when $ttlInSecond is out of its range
     */
    public function createSemaphoreFromKey(Key $key, ?float $ttlInSecond = 300.0, bool $autoRelease = true): SemaphoreInterface {}
}
