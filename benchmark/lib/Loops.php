<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use Latch\LockFactory;
use RuntimeException;

/**
 * What is done again and again to be measured, with the locks of any store.
 *
 * Each makes sure first that locks of that store lock; then it is a closure that runs so many
 * iterations.
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

    /**
     * @param Closure(int): void $loop
     *
     * @return Closure(int): float the nanoseconds of an iteration
     */
    public static function timed(Closure $loop): Closure
    {
        return static function (int $iterations) use ($loop): float {
            $begun = hrtime(true);
            $loop($iterations);

            return (hrtime(true) - $begun) / $iterations;
        };
    }

    /** @return Closure(int): void */
    public function sameLock(): Closure
    {
        $lock = $this->lock();
        self::demand($lock->acquire() && $lock->isAcquired());
        $lock->release();
        self::demand(!$lock->isAcquired());

        return static function (int $iterations) use ($lock): void {
            for (; $iterations > 0; --$iterations) {
                $lock->acquire();
                $lock->release();
            }
        };
    }

    /** @return Closure(int): void */
    public function sharedLock(): Closure
    {
        $lock = $this->lock();
        $other = $this->lock();
        self::demand($lock->acquireRead() && $other->acquireRead());
        $lock->release();
        $other->release();

        return static function (int $iterations) use ($lock): void {
            for (; $iterations > 0; --$iterations) {
                $lock->acquireRead();
                $lock->release();
            }
        };
    }

    /**
     * Create, acquire, destroy: the destructor releases.
     *
     * @return Closure(int): void
     */
    public function newLock(): Closure
    {
        [$factory, $ttl, $name] = [$this->factory, $this->ttl, $this->name];

        return static function (int $iterations) use ($factory, $ttl, $name): void {
            for (; $iterations > 0; --$iterations) {
                $lock = $factory->createLock($name, $ttl);
                $lock->acquire();
                unset($lock);
            }
        };
    }

    /**
     * As "new lock", the resources take turns.
     *
     * @return Closure(int): void
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

        return static function (int $iterations) use ($factory, $ttl, $resources): void {
            for (; $iterations > 0; --$iterations) {
                $lock = $factory->createLock($resources[$iterations % self::RESOURCES], $ttl);
                $lock->acquire();
                unset($lock);
            }
        };
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
