<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use Redis as PhpRedis;
use RuntimeException;

/**
 * What locks in a Redis server cost when nobody else wants them, over one transport.
 *
 * Each subject has its own connection and its own resources; only the server is shared.
 */
final class RedisCosts
{
    /** Short, so that what else runs on the machine rarely meets only one of them. */
    private const BATCH_NS = 3_000_000;
    private const TTL = 30.0;
    /** Iterations of which the requests are counted: what a batch does besides disappears in them. */
    private const COUNTED = 1_000;
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

    private readonly RawProgram $program;
    private readonly PhpRedis $observer;

    public function __construct(private readonly RedisAddress $server)
    {
        $this->program = new RawProgram('redis', ...$server->parts());
        $this->observer = $server->connect();
    }

    /** @return array<string, mixed> */
    public function measure(int $rounds): array
    {
        $rows = array_map($this->subjects(...), self::ROWS);
        $requests = array_map(
            fn (array $subjects): array => array_map($this->count(...), $subjects),
            $rows,
        );
        self::demandTheSame($requests);

        return [
            'software' => [
                'redis-server' => $this->observer->info('server')['redis_version'],
                'phpredis' => (string) phpversion('redis'),
                'hiredis' => trim((string) shell_exec('pkg-config --modversion hiredis')),
            ],
            'costs_ns' => array_map(
                static fn (array $subjects): array => Rounds::interleave($subjects, $rounds, self::BATCH_NS),
                $rows,
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

    private function loops(Subject $subject): Loops
    {
        return new Loops($subject->locks('redis', $this->server->dsn), self::TTL, "$subject->value-one");
    }

    /**
     * The program in C is a measure for Latch only if it sends what Latch sends.
     *
     * @param array<string, array<string, array<string, float>>> $requests
     */
    private static function demandTheSame(array $requests): void
    {
        foreach ($requests as $row => ['latch' => $latch, 'c' => $c]) {
            foreach (['requests', 'bytes'] as $what) {
                if (round($latch[$what]) !== round($c[$what])) {
                    throw new RuntimeException(
                        "$row: $what of Latch $latch[$what], of raw/redis.c $c[$what].",
                    );
                }
            }
        }
    }

    /**
     * What the server counts for one iteration.
     *
     * @return array<string, float>
     */
    private function count(Closure $run): array
    {
        $before = $this->counters();
        $run(self::COUNTED);
        $counted = [];
        foreach ($this->counters() as $what => $number) {
            $counted[$what] = ($number - $before[$what]) / self::COUNTED;
        }

        return $counted;
    }

    /** @return array<string, int> */
    private function counters(): array
    {
        $stats = $this->observer->info('stats');
        $calls = $microseconds = 0;
        foreach ($this->observer->info('commandstats') as $command => $numbers) {
            // The only commands that are sent; all others are the scripts'.
            if ($command === 'cmdstat_eval' || $command === 'cmdstat_evalsha') {
                sscanf($numbers, 'calls=%d,usec=%d', $some, $usec);
                $calls += $some;
                $microseconds += $usec;
            }
        }

        return [
            'requests' => $calls,
            'reads' => (int) $stats['total_reads_processed'],
            'bytes' => (int) $stats['total_net_input_bytes'],
            'commands' => (int) $stats['total_commands_processed'],
            'server_us' => $microseconds,
        ];
    }
}
