<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Symfony\Messenger\Flow\Attempt;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\Flow\Travel;
use Latch\Symfony\Messenger\Rule;

/**
 * What one kind of rule does at each step of a message's life.
 *
 * @internal
 */
abstract class Guard
{
    /**
     * @return list<class-string<Rule>> without any of them, and with nothing that travels, it has nothing to do for a message
     */
    abstract public function rules(): array;

    /** Before it is sent, or handled by the process that dispatches it. May skip it. */
    public function dispatching(Dispatch $dispatch): void
    {
    }

    /** Before the handlers. May skip or refuse it. */
    public function handling(Attempt $attempt): void
    {
    }

    /** The handlers have succeeded, and the transactions are over. Of messages with which something travels. */
    public function handled(Attempt $attempt): void
    {
    }

    /** Whether others wait for what ended() does: then its failure is that of the worker, so that the message comes again. */
    public function isVital(): bool
    {
        return false;
    }

    /** It does not come again: it was handled, skipped, or has failed for good. Maybe in another process. Of those, too. */
    public function ended(Travel $travel, bool $failed): void
    {
    }

    /**
     * It was sent again.
     *
     * @param float $delay seconds
     */
    public function requeued(Travel $travel, float $delay): void
    {
    }

    /**
     * Looks after what it has put on the watch list.
     *
     * @param array<string, scalar> $what
     *
     * @return float|null seconds after which to look again; null: nothing waits any more
     */
    public function lookAfter(array $what): ?float
    {
        return null;
    }
}
