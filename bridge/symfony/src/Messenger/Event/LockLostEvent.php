<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Event;

use Latch\Symfony\Messenger\Rule;
use Symfony\Component\Messenger\Envelope;

/** A lock was lost while its message was handled, which fails for that: a handler was slower than maxHold, for example. */
final class LockLostEvent extends RuleEvent
{
    public function __construct(Envelope $envelope, ?Rule $rule, public readonly string $resource)
    {
        parent::__construct($envelope, $rule);
    }
}
