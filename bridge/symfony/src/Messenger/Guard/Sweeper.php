<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Symfony\Messenger\Flow\Watchlist;
use Psr\Log\LoggerInterface;

/**
 * Looks after what waits in the store, in the place of processes that have died and messages that were lost.
 *
 * @internal
 */
final class Sweeper
{
    /** Seconds after which to look again, if nothing asks for less. */
    public const INTERVAL = 10.0;

    /** Seconds, the least. */
    private const MIN_INTERVAL = 0.1;

    /**
     * @param array<string, Guard> $guards by the kind of what they put on the list
     */
    public function __construct(
        private readonly Watchlist $watchlist,
        private readonly array $guards,
        private readonly ?LoggerInterface $logger = null,
    ) {
    }

    /**
     * @param float $interval seconds since a process has done so last
     *
     * @return list<float> of each that still waits, seconds after which to look again
     */
    public function sweep(float $interval): array
    {
        $waiting = [];
        $this->watchlist->sweep($interval, function (string $kind, array $what) use (&$waiting): bool {
            $seconds = $this->lookAfter($kind, $what);
            if ($seconds !== null) {
                $waiting[] = max(self::MIN_INTERVAL, min($seconds, self::INTERVAL));
            }

            return $seconds !== null;
        });

        return $waiting;
    }

    /**
     * @param array<string, scalar> $what
     */
    private function lookAfter(string $kind, array $what): ?float
    {
        $guard = $this->guards[$kind] ?? null;
        if ($guard === null) {
            // A newer release has put it there.
            return self::INTERVAL;
        }
        try {
            return $guard->lookAfter($what);
        } catch (\Throwable $e) {
            $this->logger?->error('What waits in the store cannot be looked after, and is again in {seconds} s: {error}', [
                'seconds' => self::INTERVAL,
                'error' => $e->getMessage(),
                'exception' => $e,
            ] + $what);

            return self::INTERVAL;
        }
    }
}
