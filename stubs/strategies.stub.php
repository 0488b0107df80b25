<?php

/** @generate-class-entries */

namespace Latch\Strategy;

/** Decides how many of a CombinedStore's stores have to agree. */
interface StrategyInterface
{
    /**
     * Whether this number of successes is enough.
     *
     * @param int $numberOfSuccess stores that succeeded
     * @param int $numberOfItems   all stores
     *
     * @tentative-return-type
     */
    public function isMet(int $numberOfSuccess, int $numberOfItems): bool;

    /**
     * Whether there can still be enough successes after this number of failures.
     *
     * @param int $numberOfFailure stores that failed
     * @param int $numberOfItems   all stores
     *
     * @tentative-return-type
     */
    public function canBeMet(int $numberOfFailure, int $numberOfItems): bool;
}

/** More than half of the stores. */
class ConsensusStrategy implements StrategyInterface
{
    public function isMet(int $numberOfSuccess, int $numberOfItems): bool {}

    public function canBeMet(int $numberOfFailure, int $numberOfItems): bool {}
}

/** All stores. */
class UnanimousStrategy implements StrategyInterface
{
    public function isMet(int $numberOfSuccess, int $numberOfItems): bool {}

    public function canBeMet(int $numberOfFailure, int $numberOfItems): bool {}
}
