<?php

declare(strict_types=1);

namespace Latch\Symfony\Profiler;

use Latch\Symfony\Messenger\Event\LockLostEvent;
use Latch\Symfony\Messenger\Event\LockRefusedEvent;
use Latch\Symfony\Messenger\Event\LockReleasedEvent;
use Latch\Symfony\Messenger\Event\MessageParkedEvent;
use Latch\Symfony\Messenger\Event\MessageRequeuedEvent;
use Latch\Symfony\Messenger\Event\MessageSkippedEvent;
use Latch\Symfony\Messenger\Limit;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;

/**
 * @internal
 */
final class TraceListener implements EventSubscriberInterface
{
    public function __construct(private readonly LockTrace $trace)
    {
    }

    public static function getSubscribedEvents(): array
    {
        return [
            LockRefusedEvent::class => 'onRefused',
            LockLostEvent::class => 'onLost',
            LockReleasedEvent::class => 'onReleased',
            MessageSkippedEvent::class => 'onSkipped',
            MessageParkedEvent::class => 'onParked',
            MessageRequeuedEvent::class => 'onRequeued',
        ];
    }

    public function onRefused(LockRefusedEvent $event): void
    {
        $this->trace->message('refused', $event, $event->reason);
    }

    public function onLost(LockLostEvent $event): void
    {
        $this->trace->message('lost', $event, "The lock \"$event->resource\" was lost");
    }

    public function onReleased(LockReleasedEvent $event): void
    {
        if ($event->rule instanceof Limit) {
            $this->trace->permitReleased($event->resource);
        }
    }

    public function onSkipped(MessageSkippedEvent $event): void
    {
        $this->trace->message('skipped', $event, $event->reason);
    }

    public function onParked(MessageParkedEvent $event): void
    {
        $this->trace->message('parked', $event, 'It waits in the store for others');
    }

    public function onRequeued(MessageRequeuedEvent $event): void
    {
        $this->trace->message('requeued', $event, \sprintf('For %.1f s, for the %d. time', $event->delay, $event->count));
    }
}
