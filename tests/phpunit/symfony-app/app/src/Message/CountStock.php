<?php

declare(strict_types=1);

namespace App\Message;

use App\Messenger\Locked;

/**
 * Counts the shelves of a warehouse, one by one: its handler dispatches it anew for each.
 */
#[Locked('warehouse', 'warehouse', ttl: 60.0)]
final class CountStock implements HandledAtOnce
{
    public function __construct(
        public readonly string $warehouse,
        public readonly int $shelves,
    ) {
    }
}
