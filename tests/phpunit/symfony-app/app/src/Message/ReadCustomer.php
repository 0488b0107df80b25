<?php

declare(strict_types=1);

namespace App\Message;

use App\Messenger\Locked;

/**
 * Many may read a customer at the same time.
 */
#[Locked('customer', 'customer', read: true)]
final class ReadCustomer
{
    public function __construct(
        public readonly string $customer,
        public readonly string $source,
    ) {
    }
}
