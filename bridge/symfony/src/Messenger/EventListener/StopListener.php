<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\EventListener;

use Latch\Symfony\Messenger\Exception\WaitAbortedException;
use Latch\Symfony\Messenger\Flow\Waits;
use Symfony\Component\Console\ConsoleEvents;
use Symfony\Component\Console\Event\ConsoleSignalEvent;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\Messenger\Event\WorkerStartedEvent;
use Symfony\Component\Messenger\Worker;

/**
 * Ends the wait for a lock when the worker is told to stop.
 */
final class StopListener implements EventSubscriberInterface
{
    private const SIGNALS = [2, 3, 15];

    private ?Worker $worker = null;

    public function __construct(private readonly Waits $waits)
    {
    }

    public static function getSubscribedEvents(): array
    {
        $events = [WorkerStartedEvent::class => 'onStarted'];
        if (class_exists(ConsoleEvents::class)) {
            $events[ConsoleEvents::SIGNAL] = ['onSignal', -2048];
        }

        return $events;
    }

    /** Before the first signal, as nothing can be loaded when that comes. */
    public function onStarted(WorkerStartedEvent $event): void
    {
        $this->worker = $event->getWorker();
        class_exists(WaitAbortedException::class);
    }

    public function onSignal(ConsoleSignalEvent $event): void
    {
        if ($this->worker !== null && $this->waits->isWaiting() && \in_array($event->getHandlingSignal(), self::SIGNALS, true)) {
            $event->abortExit();
            // The command, whose turn would be after this listener, does not come to it.
            $this->worker->stop();
            throw (new WaitAbortedException('The worker was told to stop while its message waited.', ''))->after(exactDelay: 0);
        }
    }
}
