<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Symfony\Messenger\Rule;

/**
 * The message comes after the parts of a group. What its rules say about dispatches was done when the parts were sent.
 *
 * @internal
 */
final class AfterParts implements Rule
{
    /**
     * @param array<string, array<mixed>> $locks that it has since: what travels, by the name of its rule
     */
    public function __construct(public readonly string $group, public readonly array $locks)
    {
    }
}
