<?php

declare(strict_types=1);

namespace App\MessageHandler;

use App\Message\SendInvoice;
use Psr\Log\LoggerInterface;
use Symfony\Component\Messenger\Attribute\AsMessageHandler;

#[AsMessageHandler]
final class SendInvoiceHandler
{
    public function __construct(private readonly LoggerInterface $logger)
    {
    }

    public function __invoke(SendInvoice $message): void
    {
        $this->logger->info("app: invoice $message->invoice is sent");
    }
}
