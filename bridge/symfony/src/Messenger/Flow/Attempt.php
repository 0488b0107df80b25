<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Flow;

use Latch\Symfony\Messenger\Event\LockRefusedEvent;
use Latch\Symfony\Messenger\Exception\LockConflictException;
use Latch\Symfony\Messenger\Exception\RequeueException;
use Latch\Symfony\Messenger\OnConflict;
use Latch\Symfony\Messenger\Rule;
use Latch\Symfony\Messenger\Rule\RuleSet;
use Symfony\Component\Messenger\Envelope;

/**
 * A message that is about to be handled, or is handled, by this process.
 *
 * @internal
 */
final class Attempt
{
    public readonly object $message;

    public ?string $skipped = null;

    public ?Rule $skippedBy = null;

    /** Seconds, since the last lock that was acquired. */
    private float $waited = 0.0;

    /** The rules know that its handlers have succeeded. */
    public bool $handled = false;

    /** @var list<Hold> */
    private array $holds = [];

    /** @var list<\Closure(): void> */
    private array $finally = [];

    /**
     * @param bool $byWorker   a worker has received it, and tells of its end by events
     * @param bool $canRequeue it can be sent to the transport that it came from
     */
    public function __construct(
        public readonly Envelope $envelope,
        public readonly RuleSet $rules,
        public readonly Travel $travel,
        public readonly bool $byWorker,
        private readonly bool $canRequeue,
        private readonly Recorder $recorder = new Recorder(),
    ) {
        $this->message = $envelope->getMessage();
    }

    public function skip(string $reason, ?Rule $by = null): void
    {
        $this->skipped = $reason;
        $this->skippedBy = $by;
    }

    /**
     * @param float $seconds for what a rule needs
     */
    public function waited(float $seconds): void
    {
        $this->waited += $seconds;
    }

    /**
     * @return float seconds
     */
    public function takeWaited(): float
    {
        $waited = $this->waited;
        $this->waited = 0.0;

        return $waited;
    }

    /**
     * @param string   $reason     a sentence without its full stop
     * @param int|null $baseDelay  milliseconds, from which the delays of further requeues grow
     * @param int|null $exactDelay milliseconds
     *
     * @throws LockConflictException
     */
    public function refuse(
        string $resource,
        string $reason,
        OnConflict $onConflict = OnConflict::Requeue,
        ?int $baseDelay = null,
        ?int $exactDelay = null,
        ?\Throwable $previous = null,
        ?Rule $by = null,
    ): void {
        $this->recorder->tell(
            LockRefusedEvent::class,
            fn () => new LockRefusedEvent($this->envelope, $by, $resource, $reason, $this->takeWaited()),
        );
        $message = \sprintf('%s: %s cannot be handled now.', $reason, $this->message::class);
        if ($onConflict === OnConflict::Fail) {
            throw new LockConflictException($message, $resource, $previous, $by);
        }
        if ($onConflict === OnConflict::Requeue && !($this->byWorker && !$this->canRequeue)) {
            throw (new RequeueException($message, $resource, $previous, $by))->after($baseDelay, $exactDelay);
        }
        $this->skip($reason, $by);
    }

    /**
     * @param \Closure(): void $release is called at the end
     */
    public function hold(Hold $hold, \Closure $release): void
    {
        $this->holds[] = $hold;
        $this->finally[] = $release;
    }

    /** Must be held until the handlers have ended. */
    public function watch(Hold $hold): void
    {
        $this->holds[] = $hold;
    }

    /**
     * @param \Closure(): void $call
     */
    public function finally(\Closure $call): void
    {
        $this->finally[] = $call;
    }

    /**
     * @return list<Hold>
     */
    public function holds(): array
    {
        return $this->holds;
    }

    /**
     * @return list<\Closure(): void> in the order in which they are to be called
     */
    public function takeFinally(): array
    {
        $calls = array_reverse($this->finally);
        $this->finally = [];

        return $calls;
    }
}
