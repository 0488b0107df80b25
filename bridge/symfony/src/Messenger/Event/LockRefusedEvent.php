<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Event;

use Latch\Symfony\Messenger\Rule;
use Symfony\Component\Messenger\Envelope;

/** A message cannot be handled now: another one has what it needs, or the store cannot be asked. */
final class LockRefusedEvent extends RuleEvent
{
    /**
     * @param string $reason a sentence without its full stop
     * @param float  $waited seconds, before it was refused
     */
    public function __construct(
        Envelope $envelope,
        ?Rule $rule,
        public readonly string $resource,
        public readonly string $reason,
        public readonly float $waited,
    ) {
        parent::__construct($envelope, $rule);
    }
}
