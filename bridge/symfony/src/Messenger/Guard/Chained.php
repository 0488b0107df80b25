<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Symfony\Messenger\Rule;

/**
 * The message is a step of a chain, and has the lock that the first one has taken.
 *
 * @internal
 */
final class Chained implements Rule
{
    /**
     * @param array<mixed> $lock what travels
     */
    public function __construct(public readonly array $lock)
    {
    }
}
