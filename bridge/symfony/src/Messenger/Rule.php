<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

/**
 * What the bundle does for a message: an attribute of its class, or a stamp of one dispatch.
 *
 * Attributes of parent classes and interfaces count, too. Stamps take the place of all attributes of their class.
 *
 * In keys, "{name}" is what the message's method name() or getName(), or its property, has: a string, a number, a bool,
 * a backed enum, a date or a Stringable. "{class}" is the class of the message.
 */
interface Rule extends NonSendableStampInterface
{
}
