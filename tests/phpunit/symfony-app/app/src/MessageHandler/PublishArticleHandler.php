<?php

declare(strict_types=1);

namespace App\MessageHandler;

use App\Message\PublishArticle;
use App\Messenger\HandedKeyMiddleware;
use Psr\Log\LoggerInterface;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Messenger\Attribute\AsMessageHandler;

/**
 * Goes on with the lock that the controller has taken.
 */
#[AsMessageHandler]
final class PublishArticleHandler
{
    public function __construct(
        private readonly LockFactory $factory,
        private readonly HandedKeyMiddleware $handed,
        private readonly LoggerInterface $logger,
    ) {
    }

    public function __invoke(PublishArticle $message): void
    {
        $lock = $this->factory->createLockFromKey($this->handed->key(), 60.0);
        if (!$lock->isAcquired()) {
            throw new \RuntimeException("The lock of article $message->article is lost.");
        }
        $this->logger->info("app: article $message->article is published");
        $lock->release();
    }
}
