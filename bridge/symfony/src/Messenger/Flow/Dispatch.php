<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Flow;

use Latch\Symfony\Messenger\Rule;
use Latch\Symfony\Messenger\Rule\RuleSet;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\TransportNamesStamp;

/**
 * A message that is about to be sent, or to be handled by the process that dispatches it.
 *
 * @internal
 */
final class Dispatch
{
    public readonly object $message;

    public readonly Travel $travel;

    public ?string $skipped = null;

    public ?Rule $skippedBy = null;

    public bool $parked = false;

    /** @var (\Closure(Envelope): ?Envelope)|null */
    private ?\Closure $gate = null;

    /** @var list<\Closure(): mixed> */
    private array $undo = [];

    /** @var list<\Closure(): void> */
    private array $afterSending = [];

    /**
     * @param list<string> $senders names of the transports that it is sent to
     */
    public function __construct(public Envelope $envelope, public readonly RuleSet $rules, public array $senders)
    {
        $this->message = $envelope->getMessage();
        $this->travel = Travel::none();
    }

    public function skip(string $reason, ?Rule $by = null): void
    {
        $this->skipped = $reason;
        $this->skippedBy = $by;
    }

    /** To these transports, and not where it is routed to; to none: it is handled by this process. */
    public function route(string ...$transports): void
    {
        $this->envelope = $this->envelope->with(new TransportNamesStamp(array_values($transports)));
        $this->senders = array_values($transports);
    }

    /** It is kept in the store, and dispatched later. */
    public function park(): void
    {
        $this->parked = true;
    }

    /**
     * @param \Closure(Envelope): ?Envelope $gate is called with what is to be sent; null: it is not sent now
     */
    public function sendThrough(\Closure $gate): void
    {
        $this->gate = $gate;
    }

    public function toSend(Envelope $envelope): ?Envelope
    {
        return $this->gate === null ? $envelope : ($this->gate)($envelope);
    }

    /**
     * @param \Closure(): mixed $undo is called if the message is neither sent nor handled after all
     */
    public function onUndo(\Closure $undo): void
    {
        $this->undo[] = $undo;
    }

    /**
     * @param \Closure(): void $call
     */
    public function afterSending(\Closure $call): void
    {
        $this->afterSending[] = $call;
    }

    /**
     * @return list<\Closure(): mixed> in the order in which they are to be called
     */
    public function undo(): array
    {
        return array_reverse($this->undo);
    }

    /**
     * @return list<\Closure(): void>
     */
    public function afterwards(): array
    {
        return $this->afterSending;
    }
}
