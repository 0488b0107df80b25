<?php

/** @generate-class-entries */

namespace Latch;

/** Makes locks of one store. */
class LockFactory
{
    private PersistingStoreInterface $store;
    protected ?\Psr\Log\LoggerInterface $logger = null;

    public function __construct(PersistingStoreInterface $store) {}

    /** The logger of the locks that are made from now on. */
    public function setLogger(\Psr\Log\LoggerInterface $logger): void {}

    /**
     * @param string     $resource    name of the resource: any bytes, not empty
     * @param float|null $ttl         seconds after which the lock expires; null or 0 = never
     * @param bool       $autoRelease release the lock when the object, or the script, ends
     *
     * @return Lock
     *
     * @throws Exception\InvalidArgumentException when $resource is empty; not under Symfony's names
     * @throws Exception\InvalidTtlException      when $ttl is negative or not finite
     */
    public function createLock(string $resource, ?float $ttl = 300.0, bool $autoRelease = true): SharedLockInterface {}

    /**
     * @param Key        $key         a new key, or a key from another process
     * @param float|null $ttl         seconds after which the lock expires; null or 0 = never
     * @param bool       $autoRelease release the lock when the object, or the script, ends
     *
     * @return Lock
     *
     * @throws Exception\InvalidTtlException when $ttl is negative or not finite
     */
    public function createLockFromKey(Key $key, ?float $ttl = 300.0, bool $autoRelease = true): SharedLockInterface {}

    /**
     * A lock on several resources, all of them or none. Two processes that want the same resources, in any
     * order, never wait for each other for ever.
     *
     * @param \Traversable|array $resources   1 to 10,000 names, each once, in any order; or modes by name:
     *                                        ['account-7' => 'write', 'rates' => 'read']. A name without a
     *                                        mode is for writing
     * @param float|null         $ttl         seconds after which the members expire; null or 0 = never
     * @param bool               $autoRelease release the members when the object, or the script, ends
     *
     * @phpstan-param iterable<int|string, string> $resources
     *
     * @throws Exception\InvalidArgumentException when $resources is empty, or has too many, repeated, empty or
     *                                            ambiguous names, or a mode that is none
     * @throws Exception\InvalidTtlException      when $ttl is negative or not finite
     */
    public function createMultiLock(iterable $resources, ?float $ttl = 300.0, bool $autoRelease = true): MultiLock {}
}
