<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use Latch\LockFactory;
use RuntimeException;

/**
 * What is done again and again to be measured, with the locks of any store.
 *
 * Each method makes sure first that the store locks, and returns a closure: it runs so many
 * iterations and returns the nanoseconds of one.
 */
final class Loops
{
    private const RESOURCES = 1_000;

    /**
     * @param LockFactory $factory
     * @param string      $name    of the resource; where there are many, their names begin so
     */
    public function __construct(
        private readonly object $factory,
        private readonly ?float $ttl = 300.0,
        private readonly string $name = 'one',
    ) {
    }

    /** @return Closure(int): float */
    public function sameLock(): Closure
    {
        $lock = $this->lock();
        self::demand($lock->acquire() && $lock->isAcquired());
        $lock->release();
        self::demand(!$lock->isAcquired());

        return self::timed(static function (int $iterations) use ($lock): void {
            for (; $iterations > 0; --$iterations) {
                $lock->acquire();
                $lock->release();
            }
        });
    }

    /** @return Closure(int): list<float> the nanoseconds of each iteration of sameLock() */
    public function latencies(): Closure
    {
        $once = $this->sameLock();

        return static function (int $iterations) use ($once): array {
            $latencies = [];
            for (; $iterations > 0; --$iterations) {
                $latencies[] = $once(1);
            }

            return $latencies;
        };
    }

    /** @return Closure(int): float */
    public function sharedLock(): Closure
    {
        $lock = $this->lock();
        $other = $this->lock();
        self::demand($lock->acquireRead() && $other->acquireRead());
        $lock->release();
        $other->release();

        return self::timed(static function (int $iterations) use ($lock): void {
            for (; $iterations > 0; --$iterations) {
                $lock->acquireRead();
                $lock->release();
            }
        });
    }

    /**
     * Create, acquire, destroy: the destructor releases.
     *
     * @return Closure(int): float
     */
    public function newLock(): Closure
    {
        [$factory, $ttl, $name] = [$this->factory, $this->ttl, $this->name];
        $this->demandThatDestructorsRelease();

        return self::timed(static function (int $iterations) use ($factory, $ttl, $name): void {
            for (; $iterations > 0; --$iterations) {
                $lock = $factory->createLock($name, $ttl);
                $lock->acquire();
                unset($lock);
            }
        });
    }

    /**
     * The part of newLock() that its destructor takes.
     *
     * @return Closure(int): float
     */
    public function destructor(): Closure
    {
        [$factory, $ttl, $name] = [$this->factory, $this->ttl, $this->name];
        $this->demandThatDestructorsRelease();

        return static function (int $iterations) use ($factory, $ttl, $name): float {
            $total = 0;
            for ($i = 0; $i < $iterations; ++$i) {
                $lock = $factory->createLock($name, $ttl);
                $lock->acquire();
                $begun = hrtime(true);
                unset($lock);
                $total += hrtime(true) - $begun;
            }

            return $total / $iterations;
        };
    }

    /**
     * As newLock(), the resources take turns.
     *
     * @return Closure(int): float
     */
    public function manyResources(): Closure
    {
        [$factory, $ttl] = [$this->factory, $this->ttl];
        $resources = array_map(
            fn (int $i): string => "$this->name-many-$i",
            range(0, self::RESOURCES - 1),
        );
        foreach ($resources as $resource) {
            self::demand($factory->createLock($resource, $ttl)->acquire());
        }

        return self::timed(static function (int $iterations) use ($factory, $ttl, $resources): void {
            for (; $iterations > 0; --$iterations) {
                $lock = $factory->createLock($resources[$iterations % self::RESOURCES], $ttl);
                $lock->acquire();
                unset($lock);
            }
        });
    }

    /** @return Closure(int): float */
    public function refresh(): Closure
    {
        $lock = $this->lock();

        return self::whileHeld($lock, static function (int $iterations) use ($lock): void {
            for (; $iterations > 0; --$iterations) {
                $lock->refresh();
            }
        });
    }

    /** @return Closure(int): float */
    public function isAcquired(): Closure
    {
        $lock = $this->lock();

        return self::whileHeld($lock, static function (int $iterations) use ($lock): void {
            for (; $iterations > 0; --$iterations) {
                self::demand($lock->isAcquired());
            }
        });
    }

    /**
     * Tries to acquire what another one holds.
     *
     * @return Closure(int): float
     */
    public function conflict(): Closure
    {
        $lock = $this->lock();

        return self::whileHeld($this->lock(), static function (int $iterations) use ($lock): void {
            for (; $iterations > 0; --$iterations) {
                self::demand(!$lock->acquire());
            }
        });
    }

    /**
     * @param Closure(int): void $loop
     *
     * @return Closure(int): float
     */
    private static function timed(Closure $loop): Closure
    {
        return static function (int $iterations) use ($loop): float {
            $begun = hrtime(true);
            $loop($iterations);

            return (hrtime(true) - $begun) / $iterations;
        };
    }

    /**
     * The lock is held for each batch anew: a TTL does not last from one to the next.
     *
     * @param Closure(int): void $loop
     *
     * @return Closure(int): float
     */
    private static function whileHeld(object $lock, Closure $loop): Closure
    {
        $timed = self::timed($loop);

        return static function (int $iterations) use ($lock, $timed): float {
            self::demand($lock->acquire());
            $cost = $timed($iterations);
            $lock->release();

            return $cost;
        };
    }

    private function demandThatDestructorsRelease(): void
    {
        $lock = $this->lock();
        self::demand($lock->acquire());
        unset($lock);
        self::demand($this->lock()->acquire());
    }

    private function lock(): object
    {
        return $this->factory->createLock($this->name, $this->ttl);
    }

    /** A benchmark of something that does not lock would be worth nothing. */
    private static function demand(bool $holds): void
    {
        $holds || throw new RuntimeException('A lock did not do what the benchmark relies on.');
    }
}
