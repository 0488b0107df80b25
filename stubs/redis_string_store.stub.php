<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Locks in Redis or Valkey whose key is a string, the owner: the layout of Laravel's locks, and of all programs
 * that SET key owner NX PX ttl. Processes with this store and those programs exclude each other. Waiters on
 * Latch stand in a queue; a lock that another program has released is found within 110 ms.
 *
 * An owner is a random text, or what key() is given. The same owner in another key is another holder, as it is
 * to those programs. Connections and client objects are as RedisStore's. There are no shared locks.
 *
 * @not-serializable
 */
class RedisStringStore implements \Latch\PersistingStoreInterface
{
    /**
     * @param \Redis|\Relay\Relay|\Relay\Cluster|\RedisArray|\RedisCluster|\Predis\ClientInterface|string $redis
     *                               as RedisStore's; redis+string: and the like mean the same as redis:
     * @param float|null $initialTtl seconds, > 0, after which locks without a TTL expire; null: never
     *
     * @throws \Latch\Exception\InvalidArgumentException when $redis is not valid, or when this build of
     *                                                   Latch has no Redis
     * @throws \Latch\Exception\InvalidTtlException      when $initialTtl is not > 0
     */
    public function __construct(
        #[\SensitiveParameter] \Redis|\Relay\Relay|\Relay\Cluster|\RedisArray|\RedisCluster|\Predis\ClientInterface|string $redis,
        ?float $initialTtl = null
    ) {}

    /**
     * A key whose lock has this owner. Until it is acquired by this key, it stands for whatever lock the owner
     * has: it can be released, renewed and asked for, as by a process to which the owner was handed over.
     *
     * @param string $owner 1 to 1024 bytes, any
     *
     * @throws \Latch\Exception\InvalidArgumentException when $name is empty, or $owner is too long or empty
     */
    public static function key(string $name, #[\SensitiveParameter] string $owner): \Latch\Key {}

    /**
     * @implementation-alias Latch\Store\NativeStore::save
     * @tentative-return-type
     */
    public function save(\Latch\Key $key): void {}

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
     * Releases the lock, as delete(), and tells whether it was this owner's until then. When the connection was
     * lost meanwhile, that is unknown, and the answer true.
     *
     * @throws \Latch\Exception\LockReleasingException when the server does not answer, or refuses
     */
    public function release(\Latch\Key $key): bool {}

    /**
     * Asks the server for the owner that holds the lock now, be it on Latch or not.
     *
     * @return string|null null when it is free; or held by a lock of another layout (RedisStore), which has no owner
     *
     * @throws \Latch\Exception\LockStorageException
     */
    public function owner(\Latch\Key $key): ?string {}

    /**
     * Takes the lock away from whatever owner has it, so that the next waiter can have it. The remarks on
     * forceRelease() apply.
     *
     * @return bool was it held?
     *
     * @throws \Latch\Exception\LockStorageException
     */
    public function evict(\Latch\Key $key): bool {}

    /**
     * Tells who holds the lock, as RedisStore::inspect() does: of a holder that is not on Latch, the expiry alone.
     *
     * @return array{name: string, mode: 'exclusive'|'shared'|null, holders: list<array{pid: int|null, host: string|null, script: string|null, since: float|null, remaining: float|null, fencingToken: int|null, id: string}>, holderCount: int, waiters: int}
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}

    /**
     * Lists the locks under the store's prefix that are held by processes on Latch, in no order, as
     * RedisStore::listHeld() does. Locks of other programs are not listed: nothing tells them from other strings.
     *
     * @return list<array{name: string, mode: 'exclusive'|'shared', holders: list<array{pid: int|null, host: string|null, script: string|null, since: float|null, remaining: float|null, fencingToken: int|null, id: string}>, holderCount: int, waiters: int}>
     *
     * @throws \Latch\Exception\LockStorageException
     *
     * @implementation-alias Latch\Store\NativeStore::listHeld
     */
    public function listHeld(): array {}

    /**
     * Takes the lock away from holders, as RedisStore::forceRelease().
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
