<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Latch\Laravel\Events\Announcer;
use Latch\Laravel\Events\LockEvent;

/**
 * For locks, whose events have the name that the application has said.
 *
 * @internal
 */
trait TellsEvents
{
    /** The reason of a loss that is found at the release. */
    private const LOST = 'it was not its owner\'s any more at the release';

    private Announcer $announcer;
    private string $givenName;

    public function withEvents(Announcer $announcer, string $givenName): static
    {
        $this->announcer = $announcer;
        $this->givenName = $givenName;

        return $this;
    }

    /**
     * @param class-string<LockEvent> $event
     * @param mixed                   ...$arguments behind the name and the lock
     */
    private function tell(string $event, mixed ...$arguments): void
    {
        $this->announcer->announce($event, $this->givenName, $this, ...$arguments);
    }

    private static function secondsSince(int $begunNs): float
    {
        return (hrtime(true) - $begunNs) / 1e9;
    }
}
