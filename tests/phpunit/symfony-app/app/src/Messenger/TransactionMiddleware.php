<?php

declare(strict_types=1);

namespace App\Messenger;

use App\Message\HandledAtOnce;
use Psr\Log\LoggerInterface;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;

/**
 * Stands where an application with a database has its transactions.
 */
final class TransactionMiddleware implements MiddlewareInterface
{
    public function __construct(private readonly LoggerInterface $logger)
    {
    }

    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        if (!$envelope->getMessage() instanceof HandledAtOnce) {
            return $stack->next()->handle($envelope, $stack);
        }
        $this->logger->info('app: begin');
        try {
            $envelope = $stack->next()->handle($envelope, $stack);
        } catch (\Throwable $e) {
            $this->logger->info('app: roll back');
            throw $e;
        }
        $this->logger->info('app: commit');

        return $envelope;
    }
}
