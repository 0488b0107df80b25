<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Event;

use Latch\Symfony\Messenger\Rule;
use Symfony\Component\Messenger\Envelope;

/** The lock, or permit, of an attempt was given back; it may have been lost before. */
final class LockReleasedEvent extends RuleEvent
{
    /**
     * @param float $held seconds since it was acquired
     */
    public function __construct(
        Envelope $envelope,
        ?Rule $rule,
        public readonly string $resource,
        public readonly float $held,
    ) {
        parent::__construct($envelope, $rule);
    }
}
