<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;

/**
 * The measurements of locks that many processes wait for, in any store.
 */
final class Queues
{
    /** How many hand-offs at least in all rounds, by how many wait. */
    public const HANDOFFS = [1 => 100, 8 => 240, 32 => 320];
    public const SATURATED_US = 1_000;
    /** What Symfony sleeps between two polls. */
    public const PHASES_US = 100_000;
    /** For how many seconds, by how many contend: each process's share shall come to some 100 holds. */
    private const SATURATED_SECONDS = [2 => 3, 8 => 4, 32 => 6];

    /**
     * @param Closure(string, string, string|int...): array $part     runs the part of that name on that store
     * @param list<Subject>|null                            $subjects null: Latch and Symfony, where it has the store
     * @param int                                           $phasesUs the time between two polls of who polls
     */
    public function __construct(
        private readonly int $rounds,
        private readonly Closure $part,
        private readonly ?array $subjects = null,
        private readonly int $phasesUs = self::PHASES_US,
    ) {
    }

    /**
     * @param array<int, int> $handOffsOf how many at least in all rounds, by how many wait
     *
     * @return array<int, array<string, list<float>>> by number of waiters and subject
     */
    public function handOff(string $store, array $handOffsOf = self::HANDOFFS): array
    {
        $latencies = [];
        foreach ($handOffsOf as $waiters => $handOffs) {
            Command::say("$store, hand-off, $waiters waiting");
            $drains = (int) ceil($handOffs / $waiters / $this->rounds);
            $latencies[$waiters] = $this->inTurns(
                $store,
                fn (Subject $subject): array => array_merge(
                    ...($this->part)('drain', $store, $subject->value, $waiters, $drains, 0, $this->phasesUs),
                ),
            );
        }

        return $latencies;
    }

    /**
     * @param bool            $computes  whether holders compute, rather than sleep
     * @param array<int, int> $secondsOf for how long, by how many contend
     *
     * @return array<int, array<string, array<string, mixed>>> by number of contenders and subject
     */
    public function contention(
        string $store,
        bool $computes = false,
        array $secondsOf = self::SATURATED_SECONDS,
    ): array {
        $contention = [];
        foreach ($secondsOf as $processes => $seconds) {
            Command::say("$store, endless contention of $processes" . ($computes ? ' that compute' : ''));
            foreach ($this->subjects ?? Subject::with($store) as $subject) {
                $contention[$processes][$subject->value]
                    = $this->saturate($store, $subject, $processes, self::SATURATED_US, $seconds, $computes);
            }
        }

        return $contention;
    }

    /** @return array<string, mixed> */
    public function saturate(
        string $store,
        Subject $subject,
        int $processes,
        int $holdUs,
        int $seconds,
        bool $computes = false,
    ): array {
        $numbers = array_map(
            static fn (Subject $one): int => $one === $subject ? $processes : 0,
            Subject::cases(),
        );

        return ($this->part)('saturate', $store, $holdUs, $seconds, (int) $computes, ...$numbers);
    }

    /**
     * Lets the subjects take turns, round after round.
     *
     * @param callable(Subject): list<float> $measure
     *
     * @return array<string, list<float>> by subject
     */
    public function inTurns(string $store, callable $measure): array
    {
        $measured = [];
        for ($round = 0; $round < $this->rounds; ++$round) {
            foreach ($this->subjects ?? Subject::with($store) as $subject) {
                $measured[$subject->value] = [...$measured[$subject->value] ?? [], ...$measure($subject)];
            }
        }

        return $measured;
    }
}
