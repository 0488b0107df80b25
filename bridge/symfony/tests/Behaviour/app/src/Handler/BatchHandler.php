<?php

declare(strict_types=1);

namespace App\Handler;

use App\Journal;
use App\Message\Batched;
use Symfony\Component\Messenger\Attribute\AsMessageHandler;
use Symfony\Component\Messenger\Handler\Acknowledger;
use Symfony\Component\Messenger\Handler\BatchHandlerInterface;
use Symfony\Component\Messenger\Handler\BatchHandlerTrait;

/**
 * Handles two messages at once, or those that there are when the worker has nothing else to do.
 */
#[AsMessageHandler]
final class BatchHandler implements BatchHandlerInterface
{
    use BatchHandlerTrait;

    public function __construct(private readonly Journal $journal, private readonly Gates $gates)
    {
    }

    public function __invoke(Batched $message, ?Acknowledger $ack = null): mixed
    {
        $this->journal->write('taken in', $message->name);

        return $this->handle($message, $ack);
    }

    private function getBatchSize(): int
    {
        return 2;
    }

    /**
     * @param list<array{Batched, Acknowledger}> $jobs
     */
    private function process(array $jobs): void
    {
        foreach ($jobs as [$message]) {
            $this->journal->write('begin', $message->name);
        }
        foreach ($jobs as [$message, $ack]) {
            $this->gates->pass('batch', $message->name);
            $this->journal->write('end', $message->name);
            $ack->ack();
        }
    }
}
