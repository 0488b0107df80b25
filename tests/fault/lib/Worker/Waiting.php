<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

/**
 * How an implementation can wait for a lock.
 */
enum Waiting
{
    case NotAtAll;
    /** Without time-outs, and not to change the mode: two that do would wait for ever. */
    case Endlessly;
    /** But not to change the mode. */
    case AsToldToTake;
    case AsTold;
}
