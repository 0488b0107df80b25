<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Event;

use Latch\Symfony\Messenger\Rule;
use Symfony\Component\Messenger\Envelope;

/** A message has the lock of a Lock, or the permit of a Limit, for the time of an attempt. */
final class LockAcquiredEvent extends RuleEvent
{
    /**
     * @param float $waited seconds
     */
    public function __construct(
        Envelope $envelope,
        ?Rule $rule,
        public readonly string $resource,
        public readonly float $waited,
    ) {
        parent::__construct($envelope, $rule);
    }
}
