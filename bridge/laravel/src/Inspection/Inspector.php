<?php

declare(strict_types=1);

namespace Latch\Laravel\Inspection;

/**
 * Tells which locks of a cache store are held.
 *
 * @internal
 */
interface Inspector
{
    /**
     * @param bool $foreign also those of the framework that processes without Latch hold
     *
     * @return iterable<HeldLock>
     *
     * @throws CannotTell
     */
    public function held(bool $foreign): iterable;

    /** Null: nobody holds it. */
    public function find(string $name): ?HeldLock;
}
