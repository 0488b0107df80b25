<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

use Latch\LockInterface;

/**
 * Locks that a handler has acquired, and that end after the transactions of the bus.
 */
final class HandlerLocks
{
    /** @var \WeakMap<object, list<LockInterface>> */
    private \WeakMap $locks;

    public function __construct()
    {
        $this->locks = new \WeakMap();
    }

    /**
     * @param object $message the message that the handler was called with
     */
    public function releaseAfter(object $message, LockInterface ...$locks): void
    {
        $this->locks[$message] = array_values([...$this->locks[$message] ?? [], ...$locks]);
    }

    /**
     * @internal
     *
     * @return list<LockInterface>
     */
    public function of(object $message): array
    {
        return $this->locks[$message] ?? [];
    }

    /**
     * @internal
     *
     * @return list<LockInterface> in the order in which they are to be released
     */
    public function take(object $message): array
    {
        $locks = $this->locks[$message] ?? [];
        if ($locks !== []) {
            unset($this->locks[$message]);
        }

        return array_reverse($locks);
    }
}
