<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use Latch\LockFactory;
use RuntimeException;

/**
 * What one acquire and release costs when nobody else wants the lock.
 *
 * Each row is measured for its subjects in turns: a batch of one, a batch of the next, and so on,
 * round after round, so that whatever else happens on the machine meets all of them alike.
 */
final class Costs
{
    private const BATCH_NS = 15_000_000;
    private const RESOURCES = 1_000;

    public function __construct(
        private readonly Programs $programs,
        private readonly string $folder,
    ) {
    }

    /** @return array<string, array<string, list<float>>> ns, by row, subject and round */
    public function measure(int $rounds): array
    {
        return array_map(
            fn (array $subjects): array => $this->interleave($subjects, $rounds),
            $this->rows(),
        );
    }

    /** @return array<string, array<string, Closure(int): float>> */
    private function rows(): array
    {
        // The same folder for both: they lock the same files, and so do the programs in C.
        $flock = fn (Subject $subject): object => $subject->locks('flock', $this->folder);
        $semaphore = fn (Subject $subject): object => $subject->locks('semaphore', $this->folder);
        $memory = fn (Subject $subject): object => $subject->locks('memory', $this->folder);

        return [
            'flock, same lock' => [
                ...$this->both($flock, $this->sameLock(...)),
                'c' => $this->raw('open', 'ex', 'one'),
                'c-least' => $this->raw('kept', 'ex', 'one'),
            ],
            'flock, same lock, ttl null' => [
                ...$this->both($flock, fn (object $on) => $this->sameLock($on, null)),
                'c' => $this->raw('open', 'ex', 'one'),
                'c-least' => $this->raw('kept', 'ex', 'one'),
            ],
            'flock, new lock' => [
                ...$this->both($flock, $this->newLock(...)),
                'c' => $this->raw('open', 'ex', 'one'),
            ],
            'flock, shared' => [
                ...$this->both($flock, $this->sharedLock(...)),
                'c' => $this->raw('open', 'sh', 'one'),
                'c-least' => $this->raw('kept', 'sh', 'one'),
            ],
            'flock, 1000 resources' => [
                ...$this->both($flock, $this->manyResources(...)),
                'c' => $this->raw('open', 'ex', 'many-*'),
            ],
            'semaphore, same lock' => [
                ...$this->both($semaphore, $this->sameLock(...)),
                ...$this->rawSemaphores(),
            ],
            'semaphore, same lock, ttl null' => [
                ...$this->both($semaphore, fn (object $on) => $this->sameLock($on, null)),
                ...$this->rawSemaphores(),
            ],
            'semaphore, new lock' => [
                ...$this->both($semaphore, $this->newLock(...)),
                ...$this->rawSemaphores(),
            ],
            'memory, same lock' => $this->both($memory, $this->sameLock(...)),
            'memory, same lock, ttl null' => $this->both(
                $memory,
                fn (object $on) => $this->sameLock($on, null),
            ),
            'memory, new lock' => $this->both($memory, $this->newLock(...)),
            'memory, shared' => $this->both($memory, $this->sharedLock(...)),
            'memory, 1000 resources' => $this->both($memory, $this->manyResources(...)),
        ];
    }

    /**
     * @param Closure(Subject): LockFactory $factory
     * @param Closure(LockFactory): Closure $loop    makes what runs so many iterations
     *
     * @return array<string, Closure(int): float>
     */
    private function both(Closure $factory, Closure $loop): array
    {
        $timed = [];
        foreach (Subject::cases() as $subject) {
            $run = $loop($factory($subject));
            $timed[$subject->value] = static function (int $iterations) use ($run): float {
                $begun = hrtime(true);
                $run($iterations);

                return (hrtime(true) - $begun) / $iterations;
            };
        }

        return $timed;
    }

    /** @param LockFactory $factory */
    private function sameLock(object $factory, ?float $ttl = 300.0): Closure
    {
        $lock = $factory->createLock('one', $ttl);
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

    /** @param LockFactory $factory */
    private function sharedLock(object $factory): Closure
    {
        $lock = $factory->createLock('one');
        $other = $factory->createLock('one');
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
     * @param LockFactory $factory
     */
    private function newLock(object $factory): Closure
    {
        return static function (int $iterations) use ($factory): void {
            for (; $iterations > 0; --$iterations) {
                $lock = $factory->createLock('one');
                $lock->acquire();
                unset($lock);
            }
        };
    }

    /** @param LockFactory $factory */
    private function manyResources(object $factory): Closure
    {
        $resources = array_map(
            static fn (int $i): string => "many-$i",
            range(0, self::RESOURCES - 1),
        );
        foreach ($resources as $resource) {
            self::demand($factory->createLock($resource)->acquire());
        }

        return static function (int $iterations) use ($factory, $resources): void {
            for (; $iterations > 0; --$iterations) {
                $lock = $factory->createLock($resources[$iterations % self::RESOURCES]);
                $lock->acquire();
                unset($lock);
            }
        };
    }

    /** The system calls alone, on the files that the locks of these names left behind. */
    private function raw(string $mode, string $kind, string $names): Closure
    {
        $files = glob("$this->folder/sf.$names.*.lock") ?: [];
        self::demand($files !== []);

        return fn (int $iterations): float
            => $this->programs->raw('flock', $mode, $kind, $iterations, ...$files)[0];
    }

    /** @return array<string, Closure(int): float> */
    private function rawSemaphores(): array
    {
        $program = fn (string $mode): Closure => fn (int $iterations): float
            => $this->programs->raw('semaphore', $mode, $iterations, random_int(1, 1 << 30))[0];

        return ['c' => $program('php'), 'c-least' => $program('fused')];
    }

    /**
     * @param array<string, Closure(int): float> $subjects
     *
     * @return array<string, list<float>>
     */
    private function interleave(array $subjects, int $rounds): array
    {
        $iterations = array_map($this->calibrate(...), $subjects);
        $costs = array_map(static fn (): array => [], $subjects);

        for ($round = 0; $round < $rounds; ++$round) {
            foreach ($subjects as $name => $run) {
                $costs[$name][] = $run($iterations[$name]);
            }
            // Nobody is always the first.
            $subjects = array_reverse($subjects);
        }

        return $costs;
    }

    /** How many iterations fill a batch; warms everything up on the way. */
    private function calibrate(Closure $run): int
    {
        $iterations = 64;
        while (($cost = $run($iterations)) * $iterations < self::BATCH_NS / 2) {
            $iterations *= 2;
        }

        return max(1, (int) (self::BATCH_NS / $cost));
    }

    /** A benchmark of something that does not lock would be worth nothing. */
    private static function demand(bool $holds): void
    {
        $holds || throw new RuntimeException('A lock did not do what the benchmark relies on.');
    }
}
