<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Exception;

use Symfony\Component\Messenger\Exception\RecoverableExceptionInterface;

/**
 * The same, of a message that is to come again: not a failure.
 *
 * In a worker the bundle sends it to its transport, with its own delay, and without counting a retry. An outer message,
 * whose handler has dispatched this one, comes again as well.
 */
class RequeueException extends LockConflictException implements RecoverableExceptionInterface
{
    /** Milliseconds of the first delay, from which later ones grow; null: as configured. */
    private ?int $baseDelay = null;

    /** Milliseconds, when it is known when it can be handled. */
    private ?int $exactDelay = null;

    public function after(?int $baseDelay = null, ?int $exactDelay = null): static
    {
        $this->baseDelay = $baseDelay;
        $this->exactDelay = $exactDelay;

        return $this;
    }

    public function getBaseDelay(): ?int
    {
        return $this->baseDelay;
    }

    public function getExactDelay(): ?int
    {
        return $this->exactDelay;
    }

    public function getRetryDelay(): ?int
    {
        return $this->exactDelay ?? $this->baseDelay;
    }
}
