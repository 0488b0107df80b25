<?php

declare(strict_types=1);

namespace Shop;

use Latch\Arrival;
use Latch\CountDown;
use Latch\Debounce;
use Latch\Entry;
use Latch\Exception\InvalidArgumentException;
use Latch\Exception\LockStorageException;
use Latch\Occurrence;
use Latch\Place;
use Latch\Sequence;
use Latch\Store\InMemoryStore;
use Latch\SyncFactory;
use Latch\Throttle;
use Latch\Turn;
use Latch\Version;

/** Uses versions, throttles, count-downs, sequences and debounces. */
final class Deliveries
{
    private SyncFactory $factory;

    public function __construct()
    {
        $this->factory = new SyncFactory(new InMemoryStore());
    }

    public function isNew(int $number, \DateTimeInterface $changed): bool
    {
        $version = $this->version("delivery-$number");
        if (!$version->advance($changed) && !$version->advance($changed, true)) {
            return false;
        }

        return $version->isOutdated($changed) || !$version->revert($changed) || $version->get() === null;
    }

    public function seconds(): float
    {
        $throttle = $this->throttle();

        return $throttle->acquire() || $throttle->acquire(true, 0.5) ? 0.0 : $throttle->getRetryAfter();
    }

    /** @param list<string> $parts */
    public function deliver(array $parts): string
    {
        $count = $this->count();
        try {
            $count->open($parts, 'payload');
            $arrival = $count->arrive($parts[0], true, 10.0);
        } catch (InvalidArgumentException | LockStorageException) {
            return $count->cancel() ? 'cancelled' : 'not open';
        }
        $text = $this->tell($arrival);
        $count->done();
        $state = $count->inspect();

        return $count->await(1.0) ? $text : $state['state'] . implode(',', $state['missing']) . ($state['left'] + $state['total']);
    }

    private function tell(Arrival $arrival): string
    {
        return ($arrival->payload ?? 'none') . $arrival->left . implode(',', $arrival->failed);
    }

    public function inOrder(): string
    {
        $sequence = $this->sequence();
        [$first, $second] = [$sequence->enter('a'), $sequence->enter('b', 'parcel')];
        $turn = $this->turn($sequence->resume($first->ticket));
        $entry = $sequence->next($first->ticket);
        $sequence->putBack($second->ticket);
        $known = $sequence->inspect();
        $none = $sequence->abandon(0.0);

        return $turn . $this->entry($entry) . $this->place($first) . ($none === null ? '' : $none->payload)
            . ($known['head'] === $second->ticket && !$known['parked'] && $known['waiting'] === 0 ? ' known' : '')
            . ($sequence->getOwner() !== '' && $known['average'] !== null ? ' owned' : '');
    }

    public function atRest(): string
    {
        $debounce = $this->debounce();
        $occurrence = $debounce->register();
        $debounce->sent($occurrence->token);
        $turn = $debounce->resume($occurrence->token);
        $debounce->done($occurrence->token);

        return $this->turn($turn) . ($this->delay($occurrence) > 0.0 && $turn->retryAfter > 0.0 ? ' later' : '');
    }

    private function turn(Turn $turn): string
    {
        return $turn->state === 'go' ? 'go' : "no: $turn->state";
    }

    private function entry(?Entry $entry): string
    {
        return $entry === null ? '' : " $entry->payload" . ($entry->ticket > 0 ? '' : ' of none');
    }

    private function place(Place $place): string
    {
        return $place->isHead ? ' head' : '';
    }

    private function delay(Occurrence $occurrence): float
    {
        return $occurrence->delay;
    }

    private function sequence(): Sequence
    {
        return $this->factory->createSequence('deliveries', 60.0, 10.0, 'me');
    }

    private function debounce(): Debounce
    {
        return $this->factory->createDebounce('deliveries', 5.0, max: 60.0, ttl: 600.0);
    }

    private function version(string $name): Version
    {
        return $this->factory->createVersion($name, 60.0);
    }

    private function throttle(): Throttle
    {
        return $this->factory->createThrottle('deliveries', 5, 1.0, 2);
    }

    private function count(): CountDown
    {
        return $this->factory->createCountDown('deliveries', 60.0);
    }
}
