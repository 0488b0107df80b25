<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use RuntimeException;

/**
 * What one acquire and release costs when nobody else wants the lock.
 */
final class Costs
{
    /** Long enough for a program in C to be started. */
    private const BATCH_NS = 15_000_000;

    public function __construct(
        private readonly Programs $programs,
        private readonly string $folder,
    ) {
    }

    /** @return array<string, array<string, list<float>>> ns, by row, subject and round */
    public function measure(int $rounds): array
    {
        return array_map(
            static fn (array $subjects): array => Rounds::interleave($subjects, $rounds, self::BATCH_NS),
            $this->rows(),
        );
    }

    /** @return array<string, array<string, Closure(int): float>> */
    private function rows(): array
    {
        // The same folder for both: they lock the same files, and so do the programs in C.
        $both = fn (string $store, string $loop, ?float $ttl = 300.0): array => array_map(
            fn (Subject $subject): Closure
                => (new Loops($subject->locks($store, $this->folder), $ttl))->$loop(),
            Subject::byName(),
        );

        // Symfony has none: beside its lock files, and our own locks in memory.
        $shared = fn (string $loop, ?float $ttl = 300.0): array => [
            'latch' => (new Loops(Subject::Latch->locks('shm', $this->folder), $ttl))->$loop(),
            'symfony' => (new Loops(Subject::Symfony->locks('flock', $this->folder), $ttl))->$loop(),
            'latch, memory' => (new Loops(Subject::Latch->locks('memory', $this->folder), $ttl))->$loop(),
        ];

        return [
            'flock, same lock' => [
                ...$both('flock', 'sameLock'),
                'c' => $this->raw('open', 'ex', 'one'),
                'c-least' => $this->raw('kept', 'ex', 'one'),
            ],
            'flock, same lock, ttl null' => [
                ...$both('flock', 'sameLock', null),
                'c' => $this->raw('open', 'ex', 'one'),
                'c-least' => $this->raw('kept', 'ex', 'one'),
            ],
            'flock, new lock' => [
                ...$both('flock', 'newLock'),
                'c' => $this->raw('open', 'ex', 'one'),
            ],
            'flock, shared' => [
                ...$both('flock', 'sharedLock'),
                'c' => $this->raw('open', 'sh', 'one'),
                'c-least' => $this->raw('kept', 'sh', 'one'),
            ],
            'flock, 1000 resources' => [
                ...$both('flock', 'manyResources'),
                'c' => $this->raw('open', 'ex', 'one-many-*'),
            ],
            'semaphore, same lock' => [
                ...$both('semaphore', 'sameLock'),
                ...$this->rawSemaphores(),
            ],
            'semaphore, same lock, ttl null' => [
                ...$both('semaphore', 'sameLock', null),
                ...$this->rawSemaphores(),
            ],
            'semaphore, new lock' => [
                ...$both('semaphore', 'newLock'),
                ...$this->rawSemaphores(),
            ],
            'shared memory, same lock; Symfony by flock' => $shared('sameLock'),
            'shared memory, same lock, ttl null; Symfony by flock' => $shared('sameLock', null),
            'shared memory, new lock; Symfony by flock' => $shared('newLock'),
            'shared memory, shared; Symfony by flock' => $shared('sharedLock'),
            'shared memory, 1000 resources; Symfony by flock' => $shared('manyResources'),
            'memory, same lock' => $both('memory', 'sameLock'),
            'memory, same lock, ttl null' => $both('memory', 'sameLock', null),
            'memory, new lock' => $both('memory', 'newLock'),
            'memory, shared' => $both('memory', 'sharedLock'),
            'memory, 1000 resources' => $both('memory', 'manyResources'),
        ];
    }

    /** The system calls alone, on the files that the locks of these names left behind. */
    private function raw(string $mode, string $kind, string $names): Closure
    {
        $files = glob("$this->folder/sf.$names.*.lock") ?: [];
        if ($files === []) {
            throw new RuntimeException('No locks have left their files behind.');
        }

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
}
