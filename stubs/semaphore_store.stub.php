<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Locks by System V semaphores, for all processes of one machine (of one IPC namespace). They never
 * expire, and belong to the process that acquired them: its death frees them, and a forked child
 * does not inherit them.
 *
 * @not-serializable
 */
class SemaphoreStore implements \Latch\BlockingStoreInterface
{
    /**
     * Whether this store is to be used where an application leaves the choice to its framework: always,
     * but under Symfony's names only where PHP has sysvsem, so that processes without Latch choose alike.
     */
    public static function isSupported(): bool {}

    /**
     * @param string      $projectId keeps applications apart that use the same names of resources;
     *                               Symfony's has it from 8.1 on
     * @param string|null $digest    of which the semaphore's key is made: "xxh128" as in Symfony 6.3
     *                               to 8.0, "xxh64" as from 8.1 on, "md5" as before 6.3; null = the
     *                               setting latch.semaphore_digest. Different digests do not exclude
     *                               each other.
     *
     * @throws \Latch\Exception\InvalidArgumentException when there is no such digest
     */
    public function __construct(string $projectId = '', ?string $digest = null) {}

    /**
     * @implementation-alias Latch\Store\NativeStore::save
     * @tentative-return-type
     */
    public function save(\Latch\Key $key): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::waitAndSave
     * @tentative-return-type
     */
    public function waitAndSave(\Latch\Key $key): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::delete
     * @tentative-return-type
     */
    public function delete(\Latch\Key $key): void {}

    /**
     * @implementation-alias Latch\Store\NativeStore::putOffExpiration
     * @tentative-return-type
     */
    public function putOffExpiration(\Latch\Key $key, float $ttl): void {}

    /** @implementation-alias Latch\Store\NativeStore::exists */
    public function exists(\Latch\Key $key): bool {}

    /**
     * Tells who holds the lock, as the kernel knows; nobody is disturbed.
     *
     * It is a look at one moment: what it tells may be over when it returns.
     *
     * @return array{name: string, mode: 'exclusive'|'shared'|null, holders: list<array{pid: int}>}
     *         name: the System V key, as ipcs(1) shows it; mode: null when nobody holds it; holders:
     *         empty also when they cannot be known
     *
     * @throws \Latch\Exception\LockStorageException when the semaphores cannot be read
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}
}
