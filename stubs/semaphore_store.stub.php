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
     * Whether a framework should choose this store by default: always, but under Symfony's names only
     * where PHP has sysvsem, so that processes without Latch choose the same store.
     */
    public static function isSupported(): bool {}

    /**
     * @param string      $projectId separates applications that use the same names of resources;
     *                               Symfony's has it from 8.1 on
     * @param string|null $digest    the digest for the semaphore's key: "xxh128" as in Symfony 6.3 to
     *                               8.0, "xxh64" as from 8.1 on, "md5" as before 6.3; null = the
     *                               setting latch.semaphore_digest. Different digests do not exclude
     *                               each other.
     *
     * @throws \Latch\Exception\InvalidArgumentException when the digest is unknown
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
     * Tells who holds the lock, from the kernel's data, without affecting any process.
     *
     * A snapshot: the state may have changed when the method returns.
     *
     * @return array{name: string, mode: 'exclusive'|'shared'|null, holders: list<array{pid: int}>}
     *         name: the System V key, as ipcs(1) shows it; mode: null when the lock is free; holders:
     *         empty also when they are unknown
     *
     * @throws \Latch\Exception\LockStorageException when the semaphores cannot be read
     *
     * @implementation-alias Latch\Store\NativeStore::inspect
     */
    public function inspect(\Latch\Key $key): array {}
}
