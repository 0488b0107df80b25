<?php

declare(strict_types=1);

namespace App\Message;

use App\Messenger\Locked;

/**
 * Of each customer one at a time, and nobody reads meanwhile. Who comes in between tries again later.
 */
#[Locked('customer', 'customer', ttl: 120.0)]
final class SyncCustomer
{
    public function __construct(
        public readonly string $customer,
        public readonly string $source,
    ) {
    }
}
