<?php

declare(strict_types=1);

namespace App\MessageHandler;

use App\Message\ImportCatalogue;
use App\Message\ReadCustomer;
use App\Message\SyncCustomer;
use Psr\Log\LoggerInterface;
use Symfony\Component\Messenger\Attribute\AsMessageHandler;

/**
 * Reads data, for which it may have to wait.
 */
final class DataHandler
{
    public function __construct(private readonly LoggerInterface $logger)
    {
    }

    #[AsMessageHandler]
    public function import(ImportCatalogue $message): void
    {
        $this->read("import of $message->catalogue", $message->source);
    }

    #[AsMessageHandler]
    public function sync(SyncCustomer $message): void
    {
        $this->read("sync of $message->customer", $message->source);
    }

    #[AsMessageHandler]
    public function look(ReadCustomer $message): void
    {
        $this->read("look at $message->customer", $message->source);
    }

    private function read(string $what, string $source): void
    {
        $this->logger->info("app: $what begins");
        $file = fopen($source, 'r') ?: throw new \RuntimeException("No data: $source");
        $data = fgets($file);
        fclose($file);
        $this->logger->info("app: $what ends: " . rtrim((string) $data));
    }
}
