<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Event;

/** A message was dispatched, and waits in the store: for those before it, or for the parts before it. */
final class MessageParkedEvent extends RuleEvent
{
}
