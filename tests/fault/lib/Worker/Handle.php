<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

/**
 * One Lock object. Its end releases what it holds.
 */
interface Handle
{
    /** @param float|null $wait how long to wait at most, as far as it can be told; 0 = only try, null = for ever */
    public function acquire(bool $exclusive, ?float $wait): bool;

    public function waiting(): Waiting;

    /** Whether it is held for certain now, by the implementation's own account, without asking the store. */
    public function isCertain(): bool;

    /** @return bool false when it was told that it has the lock no more */
    public function refresh(): bool;

    public function release(): void;

    /** Of a multi-lock: those of its members, with + between them. */
    public function fencingToken(): int|string|null;
}
