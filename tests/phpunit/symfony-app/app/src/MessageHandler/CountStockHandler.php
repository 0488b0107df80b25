<?php

declare(strict_types=1);

namespace App\MessageHandler;

use App\Message\CountStock;
use Psr\Log\LoggerInterface;
use Symfony\Component\Messenger\Attribute\AsMessageHandler;
use Symfony\Component\Messenger\MessageBusInterface;

#[AsMessageHandler]
final class CountStockHandler
{
    public function __construct(
        private readonly MessageBusInterface $bus,
        private readonly LoggerInterface $logger,
    ) {
    }

    public function __invoke(CountStock $message): void
    {
        $this->logger->info("app: shelf $message->shelves");
        if ($message->shelves > 1) {
            $this->bus->dispatch(new CountStock($message->warehouse, $message->shelves - 1));
        }
        $this->logger->info("app: shelf $message->shelves is counted");
    }
}
