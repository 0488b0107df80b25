<?php

/** @generate-class-entries */

namespace Latch\Strategy;

/** How many of a CombinedStore's stores have to agree. */
interface StrategyInterface
{
    /**
     * Whether so many successes are enough.
     *
     * @param int $numberOfSuccess stores that did as they were told
     * @param int $numberOfItems   all stores
     *
     * @tentative-return-type
     */
    public function isMet(int $numberOfSuccess, int $numberOfItems): bool;

    /**
     * Whether there can still be enough successes after so many failures.
     *
     * @param int $numberOfFailure stores that did not do as they were told
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
