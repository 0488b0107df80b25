<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Flow;

use Latch\Symfony\Messenger\Event\RuleEvent;
use Psr\EventDispatcher\EventDispatcherInterface;
use Psr\Log\LoggerInterface;
use Symfony\Component\EventDispatcher\EventDispatcherInterface as SymfonyDispatcher;

/**
 * Tells listeners what the rules do. Nothing depends on them.
 *
 * @internal
 */
final class Recorder
{
    public function __construct(
        private readonly ?EventDispatcherInterface $dispatcher = null,
        private readonly ?LoggerInterface $logger = null,
    ) {
    }

    /**
     * @template E of RuleEvent
     *
     * @param class-string<E> $event
     * @param \Closure(): E   $make  is called if somebody may listen
     */
    public function tell(string $event, \Closure $make): void
    {
        if ($this->dispatcher === null || $this->dispatcher instanceof SymfonyDispatcher && !$this->dispatcher->hasListeners($event)) {
            return;
        }
        try {
            $this->dispatcher->dispatch($make());
        } catch (\Throwable $e) {
            $this->logger?->error('A listener to {event} has failed: {error}', ['event' => $event, 'error' => $e->getMessage(), 'exception' => $e]);
        }
    }
}
