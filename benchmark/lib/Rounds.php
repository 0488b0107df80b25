<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;

/**
 * Measures subjects in turns: a batch of one, a batch of the next, and so on, round after round, so
 * that whatever else happens on the machine meets all of them alike.
 */
final class Rounds
{
    /**
     * @template T
     *
     * @param array<string, Closure(int): T> $subjects that run so many iterations
     * @param int                            $batch    nanoseconds
     *
     * @return array<string, list<T>> what they returned, round by round
     */
    public static function interleave(array $subjects, int $rounds, int $batch): array
    {
        $iterations = array_map(
            static fn (Closure $run): int => self::calibrate($run, $batch),
            $subjects,
        );
        $results = array_map(static fn (): array => [], $subjects);

        for ($round = 0; $round < $rounds; ++$round) {
            foreach ($subjects as $name => $run) {
                $results[$name][] = $run($iterations[$name]);
            }
            // Nobody is always the first.
            $subjects = array_reverse($subjects);
        }

        return $results;
    }

    /** How many iterations fill a batch; warms everything up on the way. */
    private static function calibrate(Closure $run, int $batch): int
    {
        $iterations = 8;
        do {
            $iterations *= 2;
            $begun = hrtime(true);
            $run($iterations);
            $elapsed = hrtime(true) - $begun;
        } while ($elapsed < $batch / 2);

        return max(1, (int) ($batch / $elapsed * $iterations));
    }
}
