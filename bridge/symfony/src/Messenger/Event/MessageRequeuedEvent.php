<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Event;

use Latch\Symfony\Messenger\Rule;
use Symfony\Component\Messenger\Envelope;

/** A message was sent to its transport again, as it was refused what it needs. That is no retry. */
final class MessageRequeuedEvent extends RuleEvent
{
    /**
     * @param float $delay seconds after which it comes
     * @param int   $count number of times by now, since it was sent or retried
     */
    public function __construct(
        Envelope $envelope,
        ?Rule $rule,
        public readonly string $resource,
        public readonly float $delay,
        public readonly int $count,
    ) {
        parent::__construct($envelope, $rule);
    }
}
