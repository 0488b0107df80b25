<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\LockFactory;

/**
 * Handles messages by doing nothing: under a lock that it takes and gives back by hand, if it was given a factory.
 */
final class MessageHandler
{
    /** That of the rule, by default. */
    public const TTL = 30.0;

    public int $handled = 0;

    public ?LockFactory $locks = null;

    public function __invoke(object $message): void
    {
        ++$this->handled;
        if ($this->locks === null) {
            return;
        }
        $lock = $this->locks->createLock("order-$message->id", self::TTL);
        $lock->keepAlive();
        $lock->acquire();
        try {
            // The work.
        } finally {
            $lock->release();
        }
    }
}
