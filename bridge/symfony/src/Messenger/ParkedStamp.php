<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

/** The message waits in the store for those before it: on the envelope that dispatch() returns. */
final class ParkedStamp implements NonSendableStampInterface
{
}
