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

    public function inOrder(string $id): string
    {
        $sequence = $this->sequence(null);
        $place = $sequence->enter($id, 'payload');
        if (!$place->isHead) {
            return $sequence->enter("$id again")->isHead ? 'head' : 'parked';
        }
        $turn = $this->sequence($sequence->getOwner())->resume($place->ticket);
        $entry = $turn->state === 'go' ? $sequence->next($place->ticket) : $sequence->abandon(60.0);
        if ($entry !== null) {
            $sequence->putBack($entry->ticket);
        }
        $state = $sequence->inspect();

        return $this->name($place) . $this->name($entry) . $turn->retryAfter . ($state['head'] ?? 0) . $state['waiting']
            . ($state['parked'] ? 'parked' : '') . ($state['heldFor'] + $state['idleFor'] + ($state['average'] ?? 0.0));
    }

    public function afterTheLast(): float
    {
        $debounce = $this->debounce();
        $occurrence = $debounce->register();
        $debounce->sent($occurrence->token);
        $turn = $debounce->resume($occurrence->token);
        if ($turn->state === 'go') {
            $debounce->done($occurrence->token);
        }

        return $this->wait($occurrence, $turn);
    }

    private function name(Place|Entry|null $entry): string
    {
        return $entry instanceof Entry ? "$entry->ticket $entry->payload" : (string) $entry?->ticket;
    }

    private function wait(Occurrence $occurrence, Turn $turn): float
    {
        return $turn->state === 'held' ? $turn->retryAfter : $occurrence->delay;
    }

    private function tell(Arrival $arrival): string
    {
        return ($arrival->payload ?? 'none') . $arrival->left . implode(',', $arrival->failed);
    }

    private function version(string $name): Version
    {
        return $this->factory->createVersion($name, 60.0);
    }

    private function throttle(): Throttle
    {
        return $this->factory->createThrottle('deliveries', 5, 1.0, 2);
    }

    private function sequence(?string $owner): Sequence
    {
        return $this->factory->createSequence('deliveries', 60.0, 10.0, $owner);
    }

    private function debounce(): Debounce
    {
        return $this->factory->createDebounce('deliveries', 5.0, 60.0, 600.0);
    }

    private function count(): CountDown
    {
        return $this->factory->createCountDown('deliveries', 60.0);
    }
}
