<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

/** The message was neither sent nor handled: on the envelope that dispatch() returns. */
final class SkippedStamp implements NonSendableStampInterface
{
    public function __construct(public readonly string $reason)
    {
    }
}
