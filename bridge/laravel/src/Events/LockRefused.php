<?php

declare(strict_types=1);

namespace Latch\Laravel\Events;

/**
 * get() found the lock taken: the work overlaps with that of holder().
 */
final class LockRefused extends LockEvent
{
}
