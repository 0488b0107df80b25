<?php

declare(strict_types=1);

namespace App\Messenger;

use App\Journal;
use App\Message\Message;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;
use Symfony\Component\Messenger\Stamp\ReceivedStamp;

/**
 * Stands around the transaction, and tells when it is over and whether the message's key is locked then.
 */
final class CommitWitness implements MiddlewareInterface
{
    public function __construct(private readonly Journal $journal, private readonly Locks $locks)
    {
    }

    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        $message = $envelope->getMessage();
        if (!$message instanceof Message || $envelope->last(ReceivedStamp::class) === null) {
            return $stack->next()->handle($envelope, $stack);
        }
        $over = 'rolled back';
        try {
            $envelope = $stack->next()->handle($envelope, $stack);
            $over = 'committed';

            return $envelope;
        } finally {
            $this->journal->write($over, $message->name, ['locked' => $this->locks->isTaken($message->key)]);
        }
    }
}
