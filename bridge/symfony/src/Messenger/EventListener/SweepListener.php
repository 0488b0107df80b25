<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\EventListener;

use Latch\Symfony\Messenger\Guard\Sweeper;
use Psr\Log\LoggerInterface;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;

/**
 * Lets idle workers look after what waits in the store: at once, then every ten seconds, or as soon as that asks for.
 */
final class SweepListener implements EventSubscriberInterface
{
    /** Seconds. */
    private float $interval = 0.0;

    /** Nanoseconds of a monotonic clock. */
    private int $nextAt = 0;

    public function __construct(private readonly Sweeper $sweeper, private readonly ?LoggerInterface $logger = null)
    {
    }

    public static function getSubscribedEvents(): array
    {
        return [WorkerRunningEvent::class => 'onRunning'];
    }

    public function onRunning(WorkerRunningEvent $event): void
    {
        if (!$event->isWorkerIdle() || hrtime(true) < $this->nextAt) {
            return;
        }
        try {
            $this->interval = min([Sweeper::INTERVAL, ...$this->sweeper->sweep($this->interval)]);
        } catch (\InvalidArgumentException) {
            // Nothing can wait in a store without sequences.
            $this->nextAt = \PHP_INT_MAX;

            return;
        } catch (\Throwable $e) {
            $this->interval = Sweeper::INTERVAL;
            $this->logger?->warning('What waits in the store cannot be looked after: {error}', [
                'error' => $e->getMessage(),
                'exception' => $e,
            ]);
        }
        $this->nextAt = hrtime(true) + (int) (1e9 * $this->interval);
    }
}
