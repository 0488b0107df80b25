<?php

declare(strict_types=1);

namespace App\Messenger;

use App\Journal;
use App\Message\Copied;
use App\Message\Forwarded;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;
use Symfony\Component\Messenger\Stamp\ReceivedStamp;
use Symfony\Component\Messenger\Stamp\TransportNamesStamp;

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
        $from = $envelope->last(ReceivedStamp::class)?->getTransportName();
        $again = $envelope->withoutAll(ReceivedStamp::class);
        if ($message instanceof Forwarded && $from !== null) {
            $this->dispatch($again, $message->name);
        } elseif ($message instanceof Copied && $from === 'a') {
            $this->dispatch($again->with(new TransportNamesStamp(['b'])), $message->name);
        }

        return $stack->next()->handle($envelope, $stack);
    }

    private function dispatch(Envelope $envelope, string $name): void
    {
        $outcome = new Outcome($this->sending->bus('default')->dispatch($envelope));
        $this->journal->write('forwarded', $name, $outcome->told());
    }
}
