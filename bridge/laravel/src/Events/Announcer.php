<?php

declare(strict_types=1);

namespace Latch\Laravel\Events;

use Illuminate\Contracts\Events\Dispatcher;

/**
 * Dispatches events of locks, if somebody listens.
 *
 * @internal
 */
final class Announcer
{
    /**
     * @param \Closure(): Dispatcher $dispatcher asked each time, as tests replace it
     */
    public function __construct(private readonly \Closure $dispatcher)
    {
    }

    /**
     * @param class-string<LockEvent> $event
     */
    public function isHeard(string $event): bool
    {
        return ($this->dispatcher)()->hasListeners($event);
    }

    /**
     * @param class-string<LockEvent> $event
     * @param mixed                   ...$arguments of its constructor
     */
    public function announce(string $event, mixed ...$arguments): void
    {
        $dispatcher = ($this->dispatcher)();
        if ($dispatcher->hasListeners($event)) {
            $dispatcher->dispatch(new $event(...$arguments));
        }
    }

    /** @return array<string, mixed> nothing, as the closure leads to passwords */
    public function __debugInfo(): array
    {
        return [];
    }
}
