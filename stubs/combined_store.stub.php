<?php

/** @generate-class-entries */

namespace Latch\Store;

/**
 * Locks in several stores at once, which are held where the strategy's number of them is: they outlive
 * the loss of the others. Stores of Latch are asked side by side, and nobody waits for those that do not
 * matter any more; stores written in PHP one after the other.
 *
 * A lock that was not got is given back wherever it was. It expires, for its holder, with the first of the
 * stores in which it is held, and 1 % of its TTL and 2 ms earlier, as their clocks may run apart.
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
     * @param \Latch\PersistingStoreInterface[] $stores one at least, 64 at most, with what is combined in
     *                                                 them
     *
     * @throws \Latch\Exception\InvalidArgumentException when there is none, or something else among them
     */
    public function __construct(array $stores, \Latch\Strategy\StrategyInterface $strategy) {}

    /** The logger of what single stores do not do as they are told. */
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
