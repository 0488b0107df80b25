<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Locks in Redis or Valkey, for all processes that can reach the server, in the layout of Symfony's
 * RedisStore: the two exclude each other. Every lock expires. Taking one, and giving it back, is one
 * round trip each; one that is given back by a destructor is not waited for.
 *
 * The connection is shared by all stores of this process (in a thread-safe PHP: of this thread) that
 * have the same settings, and is kept from request to request. It is made when it is needed first.
 *
 * @not-serializable
 */
class RedisStore implements \Latch\SharedLockStoreInterface
{
    /**
     * @param string $redis      where the server is: redis://[[user:]password@]host[:port][/database],
     *                           or redis://[[user:]password@]/path/to/socket[/database], or
     *                           redis:?host[a:26379]&host[b:26379]&sentinel=NAME, and behind a
     *                           "?" options: timeout (seconds to connect within, 5), read_timeout
     *                           (seconds within which a command is answered, 5), prefix (of all keys),
     *                           and those of Symfony's connections; valkey: means the same as redis:
     * @param float  $initialTtl seconds, > 0, after which locks expire that name no TTL
     *
     * @throws \Latch\Exception\InvalidArgumentException when $redis cannot be understood, or when this
     *                                                   build of Latch has no Redis
     * @throws \Latch\Exception\InvalidTtlException      when $initialTtl is not > 0
     */
    public function __construct(#[\SensitiveParameter] string $redis, float $initialTtl = 300.0) {}

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
