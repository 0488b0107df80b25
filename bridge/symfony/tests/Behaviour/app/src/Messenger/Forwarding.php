<?php

declare(strict_types=1);

namespace App\Messenger;

use App\Journal;
use App\Message\Forwarded;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;
use Symfony\Component\Messenger\Stamp\ReceivedStamp;

/**
 * Dispatches the envelope of a message again, with all stamps that it has.
 */
final class Forwarding implements MiddlewareInterface
{
    public function __construct(private readonly Journal $journal, private readonly Sending $sending)
    {
    }

    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        $message = $envelope->getMessage();
        if ($message instanceof Forwarded && $envelope->last(ReceivedStamp::class) !== null) {
            $outcome = new Outcome($this->sending->bus('default')->dispatch($envelope->withoutAll(ReceivedStamp::class)));
            $this->journal->write('forwarded', $message->name, $outcome->told());
        }

        return $stack->next()->handle($envelope, $stack);
    }
}
