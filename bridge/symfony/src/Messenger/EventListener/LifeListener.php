<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\EventListener;

use Latch\Symfony\Messenger\Flow\Travel;
use Latch\Symfony\Messenger\Guard\Guard;
use Psr\Log\LoggerInterface;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Event\WorkerMessageFailedEvent;
use Symfony\Component\Messenger\Event\WorkerMessageHandledEvent;
use Symfony\Component\Messenger\Event\WorkerMessageRetriedEvent;
use Symfony\Component\Messenger\Stamp\DelayStamp;

/**
 * Tells the rules what becomes of the messages of workers. All that it knows is in the envelope, as the process that
 * has handled a message may be another one.
 */
final class LifeListener implements EventSubscriberInterface
{
    /**
     * @param iterable<Guard> $guards
     */
    public function __construct(private readonly iterable $guards, private readonly ?LoggerInterface $logger = null)
    {
    }

    public static function getSubscribedEvents(): array
    {
        return [
            WorkerMessageHandledEvent::class => 'onHandled',
            // After the failure transport has it, at -100.
            WorkerMessageFailedEvent::class => ['onFailed', -150],
            WorkerMessageRetriedEvent::class => 'onRetried',
        ];
    }

    public function onHandled(WorkerMessageHandledEvent $event): void
    {
        $this->tell($event->getEnvelope(), static fn (Guard $guard, Travel $travel) => $guard->ended($travel, false));
    }

    public function onFailed(WorkerMessageFailedEvent $event): void
    {
        if (!$event->willRetry()) {
            $this->tell($event->getEnvelope(), static fn (Guard $guard, Travel $travel) => $guard->ended($travel, true));
        }
    }

    public function onRetried(WorkerMessageRetriedEvent $event): void
    {
        $delay = ($event->getEnvelope()->last(DelayStamp::class)?->getDelay() ?? 0) / 1000;
        $this->tell($event->getEnvelope(), static fn (Guard $guard, Travel $travel) => $guard->requeued($travel, $delay));
    }

    /**
     * @param \Closure(Guard, Travel): void $step
     */
    private function tell(Envelope $envelope, \Closure $step): void
    {
        try {
            $travel = Travel::of($envelope);
        } catch (\JsonException $e) {
            $this->complain($envelope, $e);

            return;
        }
        if ($travel->isEmpty()) {
            return;
        }
        foreach ($this->guards as $guard) {
            try {
                $step($guard, $travel);
            } catch (\Throwable $e) {
                $this->complain($envelope, $e);
            }
        }
    }

    private function complain(Envelope $envelope, \Throwable $e): void
    {
        $this->logger?->error('A rule of {class} cannot be ended: {error}', [
            'class' => $envelope->getMessage()::class,
            'error' => $e->getMessage(),
            'exception' => $e,
        ]);
    }
}
