<?php

declare(strict_types=1);

namespace App\MessageHandler;

use App\Message\OpenAccount;
use App\Messenger\ReleaseLaterMiddleware;
use Psr\Log\LoggerInterface;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Messenger\Attribute\AsMessageHandler;

/**
 * Nobody else may look for the account before it is committed.
 */
#[AsMessageHandler]
final class OpenAccountHandler
{
    public function __construct(
        private readonly LockFactory $factory,
        private readonly ReleaseLaterMiddleware $locks,
        private readonly LoggerInterface $logger,
    ) {
    }

    public function __invoke(OpenAccount $message): void
    {
        $lock = $this->factory->createLock("account-$message->owner", 10.0);
        $lock->acquire(true);
        $this->locks->releaseAfter($message, $lock);
        $this->logger->info("app: account of $message->owner is opened");
        if ($message->owner === 'nobody') {
            throw new \DomainException('Nobody cannot have an account.');
        }
    }
}
