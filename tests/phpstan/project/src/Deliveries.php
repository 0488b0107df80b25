<?php

declare(strict_types=1);

namespace Shop;

use Latch\Arrival;
use Latch\CountDown;
use Latch\Exception\InvalidArgumentException;
use Latch\Exception\LockStorageException;
use Latch\Store\InMemoryStore;
use Latch\SyncFactory;
use Latch\Throttle;
use Latch\Version;

/** Uses versions, throttles and count-downs. */
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
