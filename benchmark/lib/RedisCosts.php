<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;

/**
 * What locks in a Redis server, or in a cluster, cost when nobody else wants them, over one transport.
 *
 * Each subject has its own connections and its own resources; only the servers are shared.
 */
final class RedisCosts
{
    /** Short, so that what else runs on the machine rarely meets only one of them. */
    private const BATCH_NS = 3_000_000;
    private const TTL = 30.0;
    /** What is measured: the row, the loop in PHP (see Loops) and the one in C (see raw/redis.c). */
    private const ROWS = [
        'acquire, release' => ['sameLock', 'pair'],
        'acquire, destructor' => ['newLock', 'destructor'],
        'the destructor alone' => ['destructor', 'release'],
        'acquireRead, release' => ['sharedLock', 'shared'],
        'refresh' => ['refresh', 'refresh'],
        'isAcquired' => ['isAcquired', 'probe'],
        'acquire, held by another' => ['conflict', 'conflict'],
        '1000 resources' => ['manyResources', 'many'],
    ];

    /** The same on an object of phpredis. */
    private const OBJECT_ROWS = [
        'acquire, release' => 'sameLock',
        'acquire, destructor' => 'newLock',
        'refresh' => 'refresh',
        'isAcquired' => 'isAcquired',
        'acquire, held by another' => 'conflict',
        '1000 resources' => 'manyResources',
    ];

    private readonly RawProgram $program;
    private readonly RedisCounters $counters;

    public function __construct(private readonly RedisAddress $address)
    {
        $this->program = new RawProgram('redis', ...$address->isCluster() ? ['cluster'] : [], ...$address->parts());
        $this->counters = new RedisCounters(...$address->servers());
    }

    /** @return array<string, mixed> */
    public function measure(int $rounds): array
    {
        $rows = array_map($this->subjects(...), self::ROWS);
        $requests = array_map(
            fn (array $subjects): array => array_map($this->counters->count(...), $subjects),
            $rows,
        );
        RedisCounters::demandTheSame($requests);

        return [
            'software' => $this->counters->software(),
            'costs_ns' => array_map(
                static fn (array $subjects): array => Rounds::interleave($subjects, $rounds, self::BATCH_NS),
                $rows,
            ),
            'object_costs_ns' => array_map(
                fn (string $loop): array => Rounds::interleave($this->objects($loop), $rounds, self::BATCH_NS),
                self::OBJECT_ROWS,
            ),
            'latency_ns' => array_map(
                static fn (array $batches): array => array_merge(...$batches),
                Rounds::interleave($this->latencies(), $rounds, self::BATCH_NS),
            ),
            'requests' => $requests,
        ];
    }

    /**
     * @param array{string, string} $row
     *
     * @return array<string, Closure(int): float>
     */
    private function subjects(array $row): array
    {
        [$loop, $inC] = $row;

        return [
            ...array_map(
                fn (Subject $subject): Closure => $this->loops($subject)->$loop(),
                Subject::byName(),
            ),
            'c' => $this->program->row($inC),
        ];
    }

    /** @return array<string, Closure(int): float> */
    private function objects(string $loop): array
    {
        return array_map(
            fn (Subject $subject): Closure => $this->loops($subject, 'redis object')->$loop(),
            Subject::byName(),
        );
    }

    /** @return array<string, Closure(int): list<float>> */
    private function latencies(): array
    {
        return [
            ...array_map(
                fn (Subject $subject): Closure => $this->loops($subject)->latencies(),
                Subject::byName(),
            ),
            'c' => $this->program->latencies(),
        ];
    }

    /** @param 'redis'|'redis object' $store */
    private function loops(Subject $subject, string $store = 'redis'): Loops
    {
        return new Loops($subject->locks($store, $this->address->dsn), self::TTL, "$subject->value-one");
    }
}
