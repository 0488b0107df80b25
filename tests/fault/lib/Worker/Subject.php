<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

/**
 * An implementation of locks, with a store.
 */
interface Subject
{
    /** Within so long a member of a quorum must have answered, in s. */
    public const MEMBERS_TIMEOUT = 0.1;

    /** @return list<string> of Teller's traits */
    public function traits(): array;

    /** A Lock object. One that does not release itself keeps the lock until it expires. */
    public function lock(string $resource, float $ttl, bool $autoRelease): Handle;

    /** Gets ready to go on after an exception. */
    public function recover(): void;
}
