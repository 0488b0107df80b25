<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Symfony\Messenger\Rule;

/**
 * The message is a part, after which another message comes.
 *
 * @internal
 */
final class PartOf implements Rule
{
    public function __construct(
        public readonly string $group,
        public readonly int $member,
        public readonly bool $allowFailures,
        public readonly float $ttl,
    ) {
    }
}
