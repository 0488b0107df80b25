<?php

declare(strict_types=1);

namespace App\EventListener;

use App\Journal;
use App\Message\Message;
use Symfony\Component\EventDispatcher\Attribute\AsEventListener;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Event\WorkerMessageFailedEvent;
use Symfony\Component\Messenger\Event\WorkerMessageHandledEvent;
use Symfony\Component\Messenger\Event\WorkerMessageReceivedEvent;
use Symfony\Component\Messenger\Event\WorkerMessageRetriedEvent;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;
use Symfony\Component\Messenger\Event\WorkerStartedEvent;
use Symfony\Component\Messenger\Event\WorkerStoppedEvent;
use Symfony\Component\Messenger\Exception\HandlerFailedException;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;

/**
 * Tells what a worker does with its messages, after everything that listens, too.
 */
final class WorkerWitness
{
    private bool $idle = false;

    public function __construct(private readonly Journal $journal)
    {
    }

    #[AsEventListener]
    public function onStarted(WorkerStartedEvent $event): void
    {
        $this->journal->write('started');
    }

    #[AsEventListener]
    public function onStopped(WorkerStoppedEvent $event): void
    {
        $this->journal->write('stopped');
    }

    /** The first time in a row. */
    #[AsEventListener]
    public function onRunning(WorkerRunningEvent $event): void
    {
        if ($event->isWorkerIdle() && !$this->idle) {
            $this->journal->write('idle');
        }
        $this->idle = $event->isWorkerIdle();
    }

    #[AsEventListener(priority: 1000)]
    public function onReceived(WorkerMessageReceivedEvent $event): void
    {
        $this->tell('received', $event->getEnvelope(), ['from' => $event->getReceiverName()]);
    }

    #[AsEventListener(priority: -1000)]
    public function onHandled(WorkerMessageHandledEvent $event): void
    {
        $this->tell('handled', $event->getEnvelope());
    }

    #[AsEventListener(priority: -1000)]
    public function onFailed(WorkerMessageFailedEvent $event): void
    {
        $error = $event->getThrowable();
        if ($error instanceof HandlerFailedException) {
            $error = array_values($error->getWrappedExceptions())[0] ?? $error;
        }
        $this->tell($event->willRetry() ? 'failed' : 'parked', $event->getEnvelope(), [
            'error' => (new \ReflectionClass($error))->getShortName(),
            'text' => substr($error->getMessage(), 0, 500),
        ]);
    }

    /** With the count and the delay with which it comes back. */
    #[AsEventListener(priority: -1000)]
    public function onRetried(WorkerMessageRetriedEvent $event): void
    {
        $delay = $event->getEnvelope()->last(DelayStamp::class)?->getDelay();
        $this->tell('sent again', $event->getEnvelope(), ['delay' => $delay]);
    }

    /**
     * @param array<string, scalar|null> $more
     */
    private function tell(string $what, Envelope $envelope, array $more = []): void
    {
        $message = $envelope->getMessage();
        if ($message instanceof Message) {
            $count = RedeliveryStamp::getRetryCountFromEnvelope($envelope);
            $this->journal->write($what, $message->name, ['retries' => $count] + $more);
        }
    }
}
