<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Locks in Redis or Valkey, for all processes that can reach the server, in the layout of Symfony's
 * RedisStore: the two exclude each other. Every lock expires. Taking one, and giving it back, is one
 * round trip each; one that is given back by a destructor is not waited for.
 *
 * With a DSN the store has a connection of its own, which is shared by all stores of this process (in a
 * thread-safe PHP: of this thread) that have the same settings, and is kept from request to request. It is
 * made when it is needed first. With a client object the commands go through that object: who waits asks
 * again and again, locks cannot be kept alive, and while a command is on its way no signal is looked after.
 *
 * @not-serializable
 */
class RedisStore implements \Latch\SharedLockStoreInterface
{
    /**
     * @param \Redis|\Relay\Relay|\Relay\Cluster|\RedisArray|\RedisCluster|\Predis\ClientInterface|string $redis
     *                           a client object, or where the server is:
     *                           redis://[[user:]password@]host[:port][/database],
     *                           or redis://[[user:]password@]/path/to/socket[/database], and behind a
     *                           "?" options: timeout (seconds to connect within, 5), read_timeout
     *                           (seconds within which a command is answered, 5), prefix (of all keys),
     *                           and those of Symfony's connections; valkey: means the same as redis:,
     *                           and rediss: or valkeys: the same by TLS, with the options ssl[cafile],
     *                           ssl[local_cert] and so on (docs/redis.md)
     * @param float  $initialTtl seconds, > 0, after which locks expire that name no TTL
     *
     * @throws \Latch\Exception\InvalidArgumentException when $redis cannot be understood, or when this
     *                                                   build of Latch has no Redis
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
}
