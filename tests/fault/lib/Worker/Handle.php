<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

/**
 * One Lock object. Its end releases what it holds.
 */
interface Handle
{
    /** @param float $wait how long to wait at most, where the implementation can; 0 = only try */
    public function acquire(bool $exclusive, float $wait): bool;

    /** Whether it can be waited for with acquire(). */
    public function canWait(): bool;

    /** Whether nobody else can hold it now, as the implementation has it, without asking the store. */
    public function isCertain(): bool;

    /** @return bool false when it was told that it has the lock no more */
    public function refresh(): bool;

    public function release(): void;

    public function fencingToken(): ?int;
}
