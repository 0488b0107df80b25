<?php

/** @generate-class-entries */

namespace Latch\Semaphore\Store;

/**
 * Semaphores in Redis or Valkey, for all processes that can reach the server, in the layout of Symfony's
 * RedisStore for semaphores: the two share their permits. Permits expire in whole seconds, rounded up.
 *
 * Connections are those of Latch\Store\RedisStore: with the same DSN, or the same client object, locks and
 * semaphores share one. With a client object the commands go through that object: who waits asks again and
 * again, permits cannot be kept alive, and while a command is on its way no signal is looked after.
 *
 * @not-serializable
 */
class RedisStore implements \Latch\Semaphore\PersistingStoreInterface
{
    /**
     * @param \Redis|\Relay\Relay|\Relay\Cluster|\RedisArray|\RedisCluster|\Predis\ClientInterface|string $redis
     *                           a client object, or where the server is, as for Latch\Store\RedisStore:
     *                           redis://[[user:]password@]host[:port][/database] and its other forms and options
     *
     * @throws \Latch\Semaphore\Exception\InvalidArgumentException when $redis cannot be understood, or when this
     *                                                             build of Latch has no Redis
     */
    public function __construct(
        #[\SensitiveParameter] \Redis|\Relay\Relay|\Relay\Cluster|\RedisArray|\RedisCluster|\Predis\ClientInterface|string $redis
    ) {}

    /**
     * @implementation-alias Latch\Semaphore\Store\NativeStore::save
     * @tentative-return-type
     */
    public function save(\Latch\Semaphore\Key $key, float $ttlInSecond): void {}

    /**
     * @implementation-alias Latch\Semaphore\Store\NativeStore::putOffExpiration
     * @tentative-return-type
     */
    public function putOffExpiration(\Latch\Semaphore\Key $key, float $ttlInSecond): void {}

    /**
     * @implementation-alias Latch\Semaphore\Store\NativeStore::delete
     * @tentative-return-type
     */
    public function delete(\Latch\Semaphore\Key $key): void {}

    /** @implementation-alias Latch\Semaphore\Store\NativeStore::exists */
    public function exists(\Latch\Semaphore\Key $key): bool {}

    /**
     * Tells who holds permits of the key's semaphore; the key's limit and weight do not matter. A snapshot.
     *
     * @return array{name: string, used: int, holders: list<array{pid: int|null, host: string|null, script: string|null, since: float|null, remaining: float|null, fencingToken: int|null, id: string, weight: int, limit: int|null}>, holderCount: int, waiters: int}
     *         used: permits that all holders have together; holders: the 500 that stay longest at most; limit: the
     *         one that the holder has named, null when it is unknown, as of holders on Symfony's store
     *
     * @throws \Latch\Semaphore\Exception\SemaphoreStorageException
     *
     * @implementation-alias Latch\Semaphore\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Semaphore\Key $key): array {}

    /**
     * Lists the semaphores under the store's prefix of which processes on Latch hold permits, in no order.
     *
     * The server is asked for some names at a time (SCAN), never for all at once; permits that are acquired or
     * released meanwhile may be listed or not.
     *
     * @param bool $foreign also the semaphores of processes on Symfony's store in PHP alone: all pairs of sorted
     *                      sets under the prefix that have the names of a semaphore's, and its tokens as members
     *
     * @return list<array{name: string, used: int, holders: list<array{pid: int|null, host: string|null, script: string|null, since: float|null, remaining: float|null, fencingToken: int|null, id: string, weight: int, limit: int|null}>, holderCount: int, waiters: int}>
     *         each as inspect() tells it
     *
     * @throws \Latch\Semaphore\Exception\SemaphoreStorageException also on a client object: only a DSN's
     *                                                              connection can list
     */
    public function listHeld(bool $foreign = false): array {}
}

/**
 * Semaphores by System V semaphores, for all processes of one machine (of one IPC namespace). Permits never expire,
 * and belong to the process that acquired them: its death gives them back, and a forked child has none of them. Those
 * who wait are woken by the kernel, in no order.
 *
 * The first process that uses a semaphore names its limit, 32767 at most: while it is in use, another one is refused
 * by an exception. Scripts that call sem_get($key, $limit) share the permits.
 *
 * @not-serializable
 */
class SemaphoreStore implements \Latch\Semaphore\PersistingStoreInterface
{
    /**
     * @param string      $projectId separates applications that use the same names of resources
     * @param string|null $digest    the digest for the semaphore's key: "xxh128", "xxh64" or "md5"; null = the setting
     *                               latch.semaphore_digest. Different digests do not share permits. The key is
     *                               unpack('i', hash($digest, "$projectId\0permits\0$resource", true))[1]
     *
     * @throws \Latch\Semaphore\Exception\InvalidArgumentException when the digest is unknown
     */
    public function __construct(string $projectId = '', ?string $digest = null) {}

    /**
     * @throws \Latch\Semaphore\Exception\InvalidArgumentException when the key's limit is above 32767, or not that of
     *                                                             the processes that use the semaphore
     *
     * @implementation-alias Latch\Semaphore\Store\NativeStore::save
     * @tentative-return-type
     */
    public function save(\Latch\Semaphore\Key $key, float $ttlInSecond): void {}

    /**
     * @implementation-alias Latch\Semaphore\Store\NativeStore::putOffExpiration
     * @tentative-return-type
     */
    public function putOffExpiration(\Latch\Semaphore\Key $key, float $ttlInSecond): void {}

    /**
     * @implementation-alias Latch\Semaphore\Store\NativeStore::delete
     * @tentative-return-type
     */
    public function delete(\Latch\Semaphore\Key $key): void {}

    /** @implementation-alias Latch\Semaphore\Store\NativeStore::exists */
    public function exists(\Latch\Semaphore\Key $key): bool {}

    /**
     * Counts the permits of the key's semaphore that are held, as the kernel tells: not by which processes. The key's
     * limit matters where scripts with sem_get() have made the semaphore. A snapshot.
     *
     * @return array{name: string, used: int, holders: list<array{pid: int, weight: int, limit: int|null}>, holderCount: int, waiters: int}
     *         holders: empty, as they are unknown; holderCount: holders, and scripts that have called sem_get();
     *         waiters: processes that wait in the kernel at this moment
     *
     * @throws \Latch\Semaphore\Exception\SemaphoreStorageException when the semaphores cannot be read
     *
     * @implementation-alias Latch\Semaphore\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Semaphore\Key $key): array {}
}

/**
 * Semaphores in the memory of one process (one thread), for tests. Permits never expire.
 *
 * @not-serializable
 */
class InMemoryStore implements \Latch\Semaphore\PersistingStoreInterface
{
    /**
     * @implementation-alias Latch\Semaphore\Store\NativeStore::save
     * @tentative-return-type
     */
    public function save(\Latch\Semaphore\Key $key, float $ttlInSecond): void {}

    /**
     * @implementation-alias Latch\Semaphore\Store\NativeStore::putOffExpiration
     * @tentative-return-type
     */
    public function putOffExpiration(\Latch\Semaphore\Key $key, float $ttlInSecond): void {}

    /**
     * @implementation-alias Latch\Semaphore\Store\NativeStore::delete
     * @tentative-return-type
     */
    public function delete(\Latch\Semaphore\Key $key): void {}

    /** @implementation-alias Latch\Semaphore\Store\NativeStore::exists */
    public function exists(\Latch\Semaphore\Key $key): bool {}

    /**
     * Tells which permits of the key's semaphore are held; the key's limit and weight do not matter.
     *
     * @return array{name: string, used: int, holders: list<array{pid: int, weight: int, limit: int|null}>, holderCount: int, waiters: int}
     *
     * @implementation-alias Latch\Semaphore\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Semaphore\Key $key): array {}
}

/** Makes stores of semaphores of DSNs and client objects. */
class StoreFactory
{
    /**
     * Makes the store that a DSN or an object is for, with what follows the scheme as of Latch\Store\StoreFactory:
     * redis:, rediss:, valkey:, valkeys:, or a client object: a RedisStore; "semaphore", "semaphore://PROJECT": a
     * SemaphoreStore; "in-memory": an InMemoryStore; flock, flock://, flock+remove, flock+remove://, pgsql+advisory:,
     * postgres+advisory://, postgresql+advisory://, mysql+advisory: or a LockFactory: a LockStore.
     *
     * @throws \Latch\Semaphore\Exception\InvalidArgumentException when there is no store for it, or the DSN cannot
     *                                                             be used
     */
    public static function createStore(#[\SensitiveParameter] object|string $connection): \Latch\Semaphore\PersistingStoreInterface {}
}
