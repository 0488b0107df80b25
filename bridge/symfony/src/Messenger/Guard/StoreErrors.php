<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Symfony\Messenger\Flow\Attempt;
use Latch\Symfony\Messenger\Rule;

/**
 * What becomes of a message when the store cannot be asked. A wrong argument remains one.
 *
 * @internal
 */
final class StoreErrors
{
    /** Factor of the delay: a server that is away is not back in a second. */
    private const PATIENCE = 10;

    public function __construct(private readonly bool $requeue, private readonly int $delay)
    {
    }

    /**
     * @throws \Throwable
     */
    public function refuse(Attempt $attempt, string $resource, \Throwable $e, ?int $delay = null, ?Rule $by = null): void
    {
        if (!$this->requeue || $e instanceof \InvalidArgumentException) {
            throw $e;
        }
        $attempt->refuse(
            $resource,
            "\"$resource\" cannot be asked for ({$e->getMessage()})",
            exactDelay: self::PATIENCE * ($delay ?? $this->delay),
            previous: $e,
            by: $by,
        );
    }
}
