<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support;

use Latch\Symfony\Tests\Message\Batched;
use Symfony\Component\Messenger\Handler\Acknowledger;
use Symfony\Component\Messenger\Handler\BatchHandlerInterface;
use Symfony\Component\Messenger\Handler\BatchHandlerTrait;

/**
 * Handles two messages at a time.
 */
final class BatchHandler implements BatchHandlerInterface
{
    use BatchHandlerTrait;

    /** @var \Closure(int): void of the message's id */
    public \Closure $does;

    public function __invoke(Batched $message, ?Acknowledger $ack = null): mixed
    {
        return $this->handle($message, $ack);
    }

    /**
     * @param list<array{Batched, Acknowledger}> $jobs
     */
    private function process(array $jobs): void
    {
        foreach ($jobs as [$message, $ack]) {
            try {
                ($this->does)((int) $message->id);
                $ack->ack();
            } catch (\Throwable $e) {
                $ack->nack($e);
            }
        }
    }

    private function getBatchSize(): int
    {
        return 2;
    }
}
