<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Locks in Redis or Valkey, for all processes that can reach the server, in the layout of Symfony's
 * RedisStore: the two exclude each other. Every lock expires. An acquire is one round trip, a release one;
 * a destructor does not wait for its release.
 *
 * With a DSN the store has a connection of its own, which is shared by all stores of this process (in a
 * thread-safe PHP: of this thread) that have the same settings, and is kept from request to request. It is
 * made for the first lock. With a client object the commands go through that object: waiters poll, locks
 * cannot be kept alive, and signal handlers are delayed while a command is on its way.
 *
 * @not-serializable
 */
class RedisStore implements \Latch\SharedLockStoreInterface
{
    /**
     * @param \Redis|\Relay\Relay|\Relay\Cluster|\RedisArray|\RedisCluster|\Predis\ClientInterface|string $redis
     *                           a client object, or a DSN:
     *                           redis://[[user:]password@]host[:port][/database],
     *                           or redis://[[user:]password@]/path/to/socket[/database], or
     *                           redis:?host[a:26379]&host[b:26379]&sentinel=NAME, or
     *                           redis://a:6379?host[b:6379]&redis_cluster=1, and behind a
     *                           "?" options: timeout (seconds to connect within, 5), read_timeout
     *                           (seconds within which a command is answered, 5), prefix (of all keys),
     *                           and those of Symfony's connections; valkey: means the same as redis:,
     *                           and rediss: or valkeys: the same by TLS, with the options ssl[cafile],
     *                           ssl[local_cert] and so on (docs/redis.md)
     * @param float  $initialTtl seconds, > 0, after which locks without a TTL expire
     *
     * @throws \Latch\Exception\InvalidArgumentException when $redis is not valid, or when this build of
     *                                                   Latch has no Redis
     * @throws \Latch\Exception\InvalidTtlException      when $initialTtl is not > 0
     */
    public function __construct(
        #[\SensitiveParameter] \Redis|\Relay\Relay|\Relay\Cluster|\RedisArray|\RedisCluster|\Predis\ClientInterface|string $redis,
        float $initialTtl = 300.0
    ) {}

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
     * Tells who holds the lock, by the notes that its holders wrote when they acquired it.
     *
     * A snapshot: the state may have changed when the method returns. For a holder that is not on Latch
     * (Symfony's or Laravel's store in PHP), has latch.holder_note = 0, or was granted the lock just now,
     * only the expiry is known.
     *
     * @return array{name: string, mode: 'exclusive'|'shared'|null, holders: list<array{pid: int|null, host: string|null, script: string|null, since: float|null, remaining: float|null, fencingToken: int|null, id: string}>, holderCount: int, waiters: int}
     *         name: the resource; mode: null when the lock is free; holders: at most 500 of
     *         holderCount; since: seconds since 1970, by the server's clock; remaining: seconds until
     *         the hold ends unless it is renewed, null: never; id: for forceRelease(); waiters: length of
     *         the queue, without waiters that poll. host and script are untrusted text, which any client
     *         of the server can write: escape them, they need not be UTF-8
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}

    /**
     * Lists the locks under the store's prefix that are held by processes on Latch, in no order.
     *
     * The server is asked for some names at a time (SCAN), never for all at once; locks that are acquired or
     * released meanwhile may be listed or not. For each lock the remarks on inspect() apply.
     *
     * @param bool $foreign also the locks of processes on Symfony's store in PHP: all sorted sets under
     *                      the prefix whose members are tokens of such locks
     *
     * @return list<array{name: string, mode: 'exclusive'|'shared', holders: list<array{pid: int|null, host: string|null, script: string|null, since: float|null, remaining: float|null, fencingToken: int|null, id: string}>, holderCount: int, waiters: int}>
     *
     * @throws \Latch\Exception\LockStorageException
     */
    public function listHeld(bool $foreign = false): array {}

    /**
     * Takes the lock away from holders, so that the next waiter can have it.
     *
     * The former holders get no message. A holder whose lock is kept alive learns of the loss at its next
     * renewal (onLost()), others when they ask, by refresh() or isAcquired(). Until then they go on as if they
     * had the lock: be sure that they are dead, or that the receivers check fencing tokens.
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
