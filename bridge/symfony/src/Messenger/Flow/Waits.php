<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Flow;

/**
 * Whether this process waits for a lock, for listeners of signals.
 *
 * @internal
 */
final class Waits
{
    private int $waits = 0;

    public function isWaiting(): bool
    {
        return $this->waits > 0;
    }

    /**
     * @param \Closure(): bool $wait
     */
    public function during(Attempt $attempt, \Closure $wait): bool
    {
        $this->waits++;
        $since = hrtime(true);
        try {
            return $wait();
        } finally {
            $this->waits--;
            $attempt->waited((hrtime(true) - $since) / 1e9);
        }
    }
}
