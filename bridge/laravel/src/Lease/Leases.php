<?php

declare(strict_types=1);

namespace Latch\Laravel\Lease;

use Illuminate\Support\Str;

/**
 * Which locks are leased: taken for some seconds, and renewed while their holder's process lives.
 *
 * @internal
 */
final class Leases
{
    /** Locks whose holder's object is dropped at once, as another one releases them: nothing would renew these. */
    private const NEVER = ['laravel_unique_job:*', 'framework/schedule-*', 'framework/command-*'];

    /** @var array<string, int|float>|null */
    private ?array $seconds = null;

    /**
     * @param \Closure(): array<string, int|float> $patterns seconds by patterns of names; asked at the first lock
     */
    public function __construct(private readonly \Closure $patterns)
    {
    }

    /** Seconds of the lease; null: the lock is taken for all of its time. */
    public function of(string $name): ?float
    {
        $this->seconds ??= ($this->patterns)();
        foreach ($this->seconds as $pattern => $seconds) {
            if (Str::is($pattern, $name)) {
                return $seconds > 0 && !Str::is(self::NEVER, $name) ? (float) $seconds : null;
            }
        }

        return null;
    }

    /** @return array<string, mixed> without the closure, which leads to passwords */
    public function __debugInfo(): array
    {
        return ['seconds' => $this->seconds];
    }
}
