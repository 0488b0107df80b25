<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Exception\LockConflictedException;
use Latch\MultiLock;
use Latch\Semaphore\Exception\SemaphoreExpiredException;
use Latch\Semaphore\Semaphore;

/**
 * A semaphore or a multi-lock.
 */
final class PrimitiveHandle implements KeptHandle, DescribedHandle
{
    /** @param \Closure(bool): array{string, string} $description RESOURCE and MODE of an attempt, exclusive or not */
    public function __construct(private readonly Semaphore|MultiLock $hold, private readonly \Closure $description)
    {
    }

    public function describe(bool $exclusive): array
    {
        return ($this->description)($exclusive);
    }

    public function acquire(bool $exclusive, ?float $wait): bool
    {
        $arguments = $wait === 0.0 ? [] : [true, $wait];
        try {
            return $this->hold instanceof Semaphore || $exclusive
                ? $this->hold->acquire(...$arguments)
                : $this->hold->acquireRead(...$arguments);
        } catch (LockConflictedException) {
            // A wait without a time-out that would never end throws.
            return false;
        }
    }

    public function waiting(): Waiting
    {
        return Waiting::AsTold;
    }

    public function isCertain(): bool
    {
        return $this->hold->isHeld();
    }

    public function refresh(): bool
    {
        try {
            $this->hold->refresh();

            return true;
        } catch (LockConflictedException | SemaphoreExpiredException) {
            return false;
        }
    }

    public function release(): void
    {
        $this->hold->release();
    }

    public function onLost(\Closure $told): void
    {
        $this->hold->onLost(static fn (object $lost, string $reason) => $told($reason));
    }

    public function sleep(int $time): void
    {
        usleep($time);
    }

    public function fencingToken(): int|string|null
    {
        if ($this->hold instanceof Semaphore) {
            return null;
        }
        $tokens = $this->hold->getFencingTokens();
        ksort($tokens, SORT_STRING); // as in describe()

        return implode('+', array_map(static fn (?int $token): string => (string) ($token ?? '-'), $tokens));
    }
}
