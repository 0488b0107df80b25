<?php

declare(strict_types=1);

namespace Latch\Demo;

use Exception;

/**
 * Thrown by the signal handler, so that every `finally` on the way out cleans up.
 */
final class Interrupted extends Exception
{
    public function __construct(public readonly int $signal)
    {
        parent::__construct("Ended by signal $signal.");
    }

    public static function throwOnSignals(): void
    {
        pcntl_async_signals(true);
        foreach (Run::SIGNALS as $signal) {
            pcntl_signal($signal, static function (int $signal): never {
                // A second Ctrl-C must not cut the cleaning up short.
                foreach (Run::SIGNALS as $again) {
                    pcntl_signal($again, SIG_IGN);
                }
                throw new self($signal);
            });
        }
    }
}
