<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Quorum: a lock is held when as many stores hold it as the strategy requires, and outlives the loss of
 * the others. Stores of Latch are asked in parallel, and the outcome stands as soon as it is certain;
 * stores written in PHP are asked one after the other.
 *
 * When the quorum refuses, the stores that granted the lock are released. A lock expires with the first
 * of the stores that hold it, and 1 % of its TTL and 2 ms earlier, for clock drift.
 *
 * @not-serializable
 */
class CombinedStore implements \Latch\SharedLockStoreInterface
{
    /** @var \Latch\PersistingStoreInterface[] */
    private array $stores;
    private \Latch\Strategy\StrategyInterface $strategy;
    protected ?\Psr\Log\LoggerInterface $logger = null;

    /**
     * @param \Latch\PersistingStoreInterface[] $stores one at least, 64 at most, including those in nested
     *                                                 combined stores
     *
     * @throws \Latch\Exception\InvalidArgumentException when there is none, or an element is no store
     */
    public function __construct(array $stores, \Latch\Strategy\StrategyInterface $strategy) {}

    /** The logger for failures of single stores. */
    public function setLogger(\Psr\Log\LoggerInterface $logger): void {}

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
