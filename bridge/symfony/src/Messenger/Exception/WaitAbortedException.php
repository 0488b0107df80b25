<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Exception;

/** The worker was told to stop while it waited: the message goes back to its queue at once. */
final class WaitAbortedException extends RequeueException
{
}
