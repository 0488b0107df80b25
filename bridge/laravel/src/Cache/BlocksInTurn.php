<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Illuminate\Contracts\Cache\LockTimeoutException;
use Illuminate\Support\Carbon;
use Illuminate\Support\Sleep;

/**
 * For subclasses of Laravel's locks: block() sleeps until the lock is this object's, instead of polling.
 *
 * @internal
 */
trait BlocksInTurn
{
    /**
     * @param float $seconds > 0
     *
     * @throws LockTimeoutException
     */
    abstract private function wait(float $seconds): void;

    /**
     * Waits in turn, for all of the time.
     *
     * @param int|float     $seconds  at most
     * @param callable|null $callback called with the lock held, which is released then
     *
     * @return mixed the callback's result; without one true
     *
     * @throws LockTimeoutException
     */
    public function block($seconds, $callback = null)
    {
        if ($seconds <= 0 || self::isTimeFaked()) {
            return parent::block($seconds, $callback);
        }
        $this->wait((float) $seconds);
        if (!\is_callable($callback)) {
            return true;
        }
        try {
            return $callback();
        } finally {
            $this->release();
        }
    }

    private static function isTimeFaked(): bool
    {
        return Carbon::hasTestNow() || (static fn (): bool => Sleep::$fake)->bindTo(null, Sleep::class)();
    }
}
