<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Symfony\Messenger\Rule;

/**
 * The message comes after the parts of a group.
 *
 * @internal
 */
final class AfterParts implements Rule
{
    public function __construct(public readonly string $group)
    {
    }
}
