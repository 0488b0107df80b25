<?php

declare(strict_types=1);

namespace App\Message;

final class SendInvoice
{
    public function __construct(public readonly string $invoice)
    {
    }
}
