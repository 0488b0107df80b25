<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\EventListener;

use Latch\Symfony\Messenger\Flow\Travel;
use Latch\Symfony\Messenger\Guard\Ending;
use Latch\Symfony\Messenger\Guard\Guard;
use Latch\Symfony\Messenger\LatchStamp;
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
    public function __construct(private readonly Ending $ending)
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
        if ($envelope->last(LatchStamp::class) === null) {
            return;
        }
        try {
            $travel = Travel::of($envelope);
        } catch (\JsonException) {
            // The attempt has failed of it.
            return;
        }
        $this->ending->tell($envelope, static fn (Guard $guard) => $step($guard, $travel));
    }
}
