<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * Acquires and releases in a quorum of three, before and after one member dies, or becomes slow.
 */
final class QuorumTrouble
{
    /** Within so long a member must have answered. */
    public const TIMEOUT_MS = 250;
    /** A slow one answers so much later than the others. */
    public const DELAY_MS = 20;
    public const KINDS = ['killed', 'stopped', 'slow'];

    /** For so long it goes on after that, in s. */
    private const SECONDS = 3;
    /** What takes so much longer than it used to was kept waiting; in ns. */
    private const LONG = 10_000_000;

    public function __construct(private readonly Programs $programs)
    {
    }

    /** @return array<string, list<float>> of each kind of number one for each round, see summary() */
    public function measure(Subject $subject, string $kind, int $rounds): array
    {
        $measured = [];
        for ($round = 0; $round < $rounds; ++$round) {
            $times = $this->programs->part('quorum_trouble', false, $subject->value, $kind, self::SECONDS);
            $measured = array_merge_recursive($measured, self::summary($times['before_ns'], $times['after_ns']));
        }

        return $measured;
    }

    /**
     * @param list<array{int, int}> $before the times of acquires and of the releases behind them, in ns
     * @param list<array{int, int}> $after
     *
     * @return array<string, list<float>> ns; and how many there were
     */
    private static function summary(array $before, array $after): array
    {
        $usual = Stats::median(array_map(array_sum(...), $before));
        $first = array_shift($after);
        $pairs = array_map(array_sum(...), $after);
        $isLong = static fn (int $pair): bool => $pair > $usual + self::LONG;

        return [
            'before' => [$usual],
            'first acquire' => [(float) $first[0]],
            'first release' => [(float) $first[1]],
            'acquire' => [Stats::median(array_column($after, 0))],
            'release' => [Stats::median(array_column($after, 1))],
            'slowest' => [(float) max($pairs)],
            // By how much all together took longer than before, if they were kept waiting.
            'lost' => [array_sum(array_map(
                static fn (int $pair): float => $pair - $usual,
                array_filter([array_sum($first), ...$pairs], $isLong),
            ))],
            'pairs' => [(float) count($pairs) + 1],
        ];
    }
}
