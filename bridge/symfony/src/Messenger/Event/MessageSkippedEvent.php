<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Event;

use Latch\Symfony\Messenger\Rule;
use Symfony\Component\Messenger\Envelope;

/** A message was neither sent nor handled, and does not come again. */
final class MessageSkippedEvent extends RuleEvent
{
    /**
     * @param string $reason a sentence without its full stop
     */
    public function __construct(Envelope $envelope, ?Rule $rule, public readonly string $reason)
    {
        parent::__construct($envelope, $rule);
    }
}
