<?php

declare(strict_types=1);

namespace App\MessageHandler;

use App\Message\BuildDigest;
use Psr\Log\LoggerInterface;
use Symfony\Component\Messenger\Attribute\AsMessageHandler;

#[AsMessageHandler]
final class BuildDigestHandler
{
    public function __construct(private readonly LoggerInterface $logger)
    {
    }

    public function __invoke(BuildDigest $message): void
    {
        $this->logger->info("app: digest of $message->at");
    }
}
