<?php

declare(strict_types=1);

namespace Latch\Laravel\Events;

/**
 * forceRelease() took the lock away from whoever had it.
 */
final class LockTakenAway extends LockEvent
{
}
