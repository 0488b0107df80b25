<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

/**
 * A child process that exits at once: what its parent holds, and the parent's connections, stay as they are.
 */
final class Fork
{
    /** Returns when the child is gone. */
    public static function exitInChild(): void
    {
        $child = pcntl_fork();
        if ($child === 0) {
            exit(0);
        }
        pcntl_waitpid($child, $status);
        if ($child < 0 || $status !== 0) {
            throw new \LogicException("A forked child ended with status $status");
        }
    }
}
