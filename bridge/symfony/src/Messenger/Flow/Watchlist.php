<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Flow;

use Latch\Sequence;
use Latch\SyncFactory;

/**
 * What waits in the store for something that may never come: processes look after it from time to time.
 *
 * The list is a sequence. Its head is its end, or the entry that a process has in hand; all others are parked. So one
 * process at a time goes through the list, and an entry outlives the process that has it in hand.
 *
 * @internal
 */
final class Watchlist
{
    private const NAME = 'latch-sweep';

    /** Id of the entry at which a process stops; it has no payload. */
    private const END = 'end';

    /**
     * @param \Closure(): SyncFactory $factory not every store has one
     * @param float                   $longest seconds, about, for which a process goes through the list at a time
     */
    public function __construct(private readonly \Closure $factory, private readonly float $longest = 1.0)
    {
    }

    /**
     * No effect if it is on the list.
     *
     * @param array<string, scalar> $what
     */
    public function add(string $kind, array $what): void
    {
        $this->enter($this->sequence(), self::payload($kind, $what), false);
    }

    /**
     * Goes through the list, from where the last time has ended, unless another process does.
     *
     * @param float                                          $interval seconds since a process has done so last
     * @param \Closure(string, array<string, scalar>): bool $look     whether it still waits
     */
    public function sweep(float $interval, \Closure $look): void
    {
        $list = $this->sequence();
        $entry = $list->abandon($interval);
        if ($entry === null) {
            return;
        }
        $list->enter(self::END, '');
        $until = hrtime(true) + (int) (1e9 * $this->longest);
        while ($entry !== null && $entry->payload !== '') {
            [$kind, $what] = json_decode($entry->payload, true, 16, \JSON_THROW_ON_ERROR);
            $waits = $look($kind, $what);
            if ($waits) {
                $this->enter($list, $entry->payload, true);
            }
            // Not by next(), so that its id is free at once.
            $list->putBack($entry->ticket);
            $next = hrtime(true) < $until ? $list->abandon(0.0) : null;
            // Another process may have found it on the list while it was not waiting yet.
            if (!$waits && $look($kind, $what)) {
                $this->enter($list, $entry->payload, false);
            }
            $entry = $next;
        }
        if ($entry !== null) {
            $list->putBack($entry->ticket);
        }
    }

    /**
     * Each has two ids: a process that has one of them in hand enters the other one. The payload of a head is not kept.
     */
    private function enter(Sequence $list, string $payload, bool $both): void
    {
        $id = hash('xxh128', $payload);
        if ($list->enter($id, $payload)->isHead || $both) {
            $list->enter("$id again", $payload);
        }
    }

    /**
     * @param array<string, scalar> $what
     */
    private static function payload(string $kind, array $what): string
    {
        return json_encode([$kind, $what], \JSON_THROW_ON_ERROR | \JSON_PRESERVE_ZERO_FRACTION | \JSON_UNESCAPED_UNICODE);
    }

    private function sequence(): Sequence
    {
        return ($this->factory)()->createSequence(self::NAME);
    }
}
