<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

use Latch\Key;

/**
 * The lock that the sender holds by this key is the message's: it ends when that was handled, or has failed for good.
 *
 * The sender acquires it without automatic release: $factory->createLockFromKey($key, $ttl, autoRelease: false).
 */
final class HandOver implements Rule
{
    /**
     * @param float      $queueTtl seconds that the message may be in the queue before the lock ends
     * @param float|null $ttl      seconds after which the lock of a killed worker is free; null: latch.messenger.ttl
     */
    public function __construct(
        public readonly Key $key,
        public readonly float $queueTtl = 3600.0,
        public readonly ?float $ttl = null,
    ) {
        Argument::positive($this, 'queueTtl', $queueTtl);
        Argument::positive($this, 'ttl', $ttl);
    }
}
