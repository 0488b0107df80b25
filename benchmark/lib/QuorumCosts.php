<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;

/**
 * What locks in a quorum of Redis servers cost when nobody else wants them and all members are well.
 *
 * Each subject has its own connections and its own resource; only the servers are shared.
 */
final class QuorumCosts
{
    /** As in RedisCosts. */
    private const BATCH_NS = 3_000_000;
    private const TTL = 30.0;
    /** What is measured: the row, the loop in PHP (see Loops) and the one in C (see raw/quorum.c). */
    private const ROWS = [
        'acquire, release' => ['sameLock', 'pair'],
        'acquire, destructor' => ['newLock', 'destructor'],
        'refresh' => ['refresh', 'refresh'],
        'isAcquired' => ['isAcquired', null],
        'acquire, held by another' => ['conflict', null],
    ];

    private readonly RawProgram $program;
    private readonly RedisCounters $counters;
    /** @var list<RedisAddress> */
    private readonly array $members;

    public function __construct(RedisAddress ...$members)
    {
        $this->members = array_values($members);
        $this->program = new RawProgram('quorum', ...array_map(
            static fn (RedisAddress $member): string => $member->parts()[1],
            $this->members,
        ));
        $this->counters = new RedisCounters(...$members);
    }

    /** @return array<string, mixed> */
    public function measure(int $rounds): array
    {
        $rows = array_map($this->subjects(...), self::ROWS);
        $requests = array_map(
            fn (array $subjects): array => array_map($this->counters->count(...), $subjects),
            $rows,
        );
        RedisCounters::demandTheSame(array_intersect_key($requests, ['acquire, release' => true]));

        return [
            'software' => $this->counters->software(),
            'costs_ns' => array_map(
                static fn (array $subjects): array => Rounds::interleave($subjects, $rounds, self::BATCH_NS),
                $rows,
            ),
            'requests' => $requests,
        ];
    }

    /**
     * @param array{string, string|null} $row
     *
     * @return array<string, Closure(int): float>
     */
    private function subjects(array $row): array
    {
        [$loop, $inC] = $row;
        $subjects = array_map(
            fn (Subject $subject): Closure => (new Loops(
                $subject->quorum($this->members),
                self::TTL,
                "$subject->value-one",
            ))->$loop(),
            Subject::byName(),
        );

        return $inC === null ? $subjects : [
            ...$subjects,
            'c' => $this->program->row($inC),
            'c-all' => $this->program->row("all-$inC"),
        ];
    }
}
