<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\EventListener;

use Latch\Symfony\Messenger\Event\MessageRequeuedEvent;
use Latch\Symfony\Messenger\Exception\RequeueException;
use Latch\Symfony\Messenger\Flow\Backoff;
use Latch\Symfony\Messenger\Flow\Recorder;
use Latch\Symfony\Messenger\Flow\Travel;
use Latch\Symfony\Messenger\LatchStamp;
use Psr\Container\ContainerInterface;
use Psr\EventDispatcher\EventDispatcherInterface;
use Psr\Log\LoggerInterface;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Event\WorkerMessageFailedEvent;
use Symfony\Component\Messenger\Event\WorkerMessageRetriedEvent;
use Symfony\Component\Messenger\EventListener\SendFailedMessageForRetryListener;
use Symfony\Component\Messenger\Exception\WrappedExceptionsInterface;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\SentForRetryStamp;
use Symfony\Component\Messenger\Transport\Sender\SenderInterface;

/**
 * In front of Symfony's listener for retries: a message that was refused its lock has not failed. It is sent again with a
 * delay of its own, and the number of its retries stays what it is.
 */
final class RequeueListener implements EventSubscriberInterface
{
    /** Number of a message's requeues from which on they are worth a notice. */
    private const NOTABLE = 10;

    /**
     * @param ContainerInterface $transports  senders, by the names of the transports
     * @param float|null         $giveUpAfter seconds
     */
    public function __construct(
        private readonly SendFailedMessageForRetryListener $retries,
        private readonly ContainerInterface $transports,
        private readonly Backoff $backoff,
        private readonly ?float $giveUpAfter,
        private readonly Recorder $recorder,
        private readonly ?EventDispatcherInterface $dispatcher = null,
        private readonly ?LoggerInterface $logger = null,
    ) {
    }

    public static function getSubscribedEvents(): array
    {
        return SendFailedMessageForRetryListener::getSubscribedEvents();
    }

    public function onMessageFailed(WorkerMessageFailedEvent $event): void
    {
        $conflict = $this->conflict($event->getThrowable());
        if ($conflict === null) {
            $this->forgetConflicts($event);
            $this->retries->onMessageFailed($event);

            return;
        }
        $envelope = $event->getEnvelope();
        $travel = Travel::of($envelope);
        ['count' => $count, 'since' => $since] = $travel->get('conflicts') ?? ['count' => 0, 'since' => null];
        // When it is known when the message's time comes, nothing is in its way.
        $since ??= $conflict->getExactDelay() === null ? microtime(true) : null;
        $transport = $event->getReceiverName();
        $patient = $this->giveUpAfter === null || $since === null || microtime(true) - $since < $this->giveUpAfter;
        if (!$patient || !$this->transports->has($transport)) {
            $this->giveUp($event, $conflict, $count);

            return;
        }
        $travel->set('conflicts', ['count' => $count + 1, 'since' => $since]);
        $delay = $this->backoff->delay($conflict, $count);
        $event->setForRetry();
        $sender = $this->transports->get($transport);
        \assert($sender instanceof SenderInterface);
        $sent = $sender->send($this->again($travel->onto($envelope), $delay));
        $this->logger?->log($count + 1 === self::NOTABLE ? 'notice' : 'info', '{class} is requeued for {delay} ms, for the {count}. time: {reason}', [
            'class' => $envelope->getMessage()::class,
            'delay' => $delay,
            'count' => $count + 1,
            'reason' => $conflict->getMessage(),
        ]);
        $this->dispatcher?->dispatch(new WorkerMessageRetriedEvent($sent, $transport));
        $this->recorder->tell(
            MessageRequeuedEvent::class,
            static fn () => new MessageRequeuedEvent($sent, $conflict->rule, $conflict->resource, $delay / 1000, $count + 1),
        );
        $this->tell($event, true);
    }

    /** It had its locks. */
    private function forgetConflicts(WorkerMessageFailedEvent $event): void
    {
        $stamp = $event->getEnvelope()->last(LatchStamp::class);
        if ($stamp !== null && str_contains($stamp->data, '"conflicts":')) {
            $travel = Travel::of($event->getEnvelope());
            $travel->set('conflicts', null);
            $event->addStamps($travel->stamp());
        }
    }

    /** The conflict, if there is nothing but conflicts. */
    private function conflict(\Throwable $error): ?RequeueException
    {
        if ($error instanceof RequeueException) {
            return $error;
        }
        $errors = $error instanceof WrappedExceptionsInterface ? $error->getWrappedExceptions(recursive: true) : [];
        $conflicts = array_filter($errors, static fn (\Throwable $e): bool => $e instanceof RequeueException);

        return $errors !== [] && \count($conflicts) === \count($errors) ? end($conflicts) : null;
    }

    /** Transports look at the RedeliveryStamp: that of AMQP sends to the queue then, and not to all queues of the exchange. */
    private function again(Envelope $envelope, int $delay): Envelope
    {
        $retries = RedeliveryStamp::getRetryCountFromEnvelope($envelope);

        return $envelope
            ->withoutAll(DelayStamp::class)
            ->withoutAll(RedeliveryStamp::class)
            ->with(new DelayStamp($delay), new RedeliveryStamp($retries));
    }

    private function giveUp(WorkerMessageFailedEvent $event, RequeueException $conflict, int $count): void
    {
        $this->logger?->critical('{class} is not requeued any more, after {count} times: {reason}', [
            'class' => $event->getEnvelope()->getMessage()::class,
            'count' => $count,
            'reason' => $conflict->getMessage(),
            'exception' => $conflict,
        ]);
        $this->tell($event, false);
    }

    private function tell(WorkerMessageFailedEvent $event, bool $sent): void
    {
        if (class_exists(SentForRetryStamp::class)) {
            $event->addStamps(new SentForRetryStamp($sent));
        }
    }
}
