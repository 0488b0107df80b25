<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\EventListener;

use Latch\Symfony\Messenger\Event\LockAcquiredEvent;
use Latch\Symfony\Messenger\Event\LockLostEvent;
use Latch\Symfony\Messenger\Event\LockRefusedEvent;
use Latch\Symfony\Messenger\Event\LockReleasedEvent;
use Latch\Symfony\Messenger\Event\MessageParkedEvent;
use Latch\Symfony\Messenger\Event\MessageRequeuedEvent;
use Latch\Symfony\Messenger\Event\MessageSkippedEvent;
use Latch\Symfony\Messenger\Event\RuleEvent;
use OpenTelemetry\API\Metrics\CounterInterface;
use OpenTelemetry\API\Metrics\HistogramInterface;
use OpenTelemetry\API\Metrics\MeterProviderInterface;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;

/**
 * Metrics for OpenTelemetry, where an application has its API.
 */
final class MetricsListener implements EventSubscriberInterface
{
    private readonly HistogramInterface $wait;

    private readonly HistogramInterface $hold;

    private readonly CounterInterface $lost;

    private readonly CounterInterface $messages;

    public function __construct(MeterProviderInterface $provider)
    {
        $meter = $provider->getMeter('latch');
        $this->wait = $meter->createHistogram('latch.lock.wait', 's', 'Waits of messages for locks, by outcome');
        $this->hold = $meter->createHistogram('latch.lock.hold', 's', 'Time for which messages have held locks');
        $this->lost = $meter->createCounter('latch.lock.lost', '{lock}', 'Locks that were lost while a message was handled');
        $this->messages = $meter->createCounter('latch.messages', '{message}', 'Messages that were skipped, parked or requeued');
    }

    public static function getSubscribedEvents(): array
    {
        return [
            LockAcquiredEvent::class => 'onAcquired',
            LockRefusedEvent::class => 'onRefused',
            LockReleasedEvent::class => 'onReleased',
            LockLostEvent::class => 'onLost',
            MessageSkippedEvent::class => 'onSkipped',
            MessageParkedEvent::class => 'onParked',
            MessageRequeuedEvent::class => 'onRequeued',
        ];
    }

    public function onAcquired(LockAcquiredEvent $event): void
    {
        $this->wait->record($event->waited, self::attributes($event, 'acquired'));
    }

    public function onRefused(LockRefusedEvent $event): void
    {
        $this->wait->record($event->waited, self::attributes($event, 'refused'));
    }

    public function onReleased(LockReleasedEvent $event): void
    {
        $this->hold->record($event->held, self::attributes($event));
    }

    public function onLost(LockLostEvent $event): void
    {
        $this->lost->add(1, self::attributes($event));
    }

    public function onSkipped(MessageSkippedEvent $event): void
    {
        $this->messages->add(1, self::attributes($event, 'skipped'));
    }

    public function onParked(MessageParkedEvent $event): void
    {
        $this->messages->add(1, self::attributes($event, 'parked'));
    }

    public function onRequeued(MessageRequeuedEvent $event): void
    {
        $this->messages->add(1, self::attributes($event, 'requeued'));
    }

    /**
     * @return array<non-empty-string, string>
     */
    private static function attributes(RuleEvent $event, ?string $outcome = null): array
    {
        ['message' => $message, 'rule' => $rule, 'key' => $key] = $event->labels();
        $attributes = ['latch.message' => $message, 'latch.rule' => $rule, 'latch.key' => $key];

        return $outcome === null ? $attributes : $attributes + ['latch.outcome' => $outcome];
    }
}
