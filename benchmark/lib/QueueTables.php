<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What a report says of the numbers of Queues, which are among those that were measured, by store.
 */
trait QueueTables
{
    private function handOffTable(): Table
    {
        $table = new Table('', 'median', '99 of 100', 'max', 'number');
        foreach ($this->measured['stores'] as $store => $part) {
            foreach ($part['handoff_ns'] as $waiters => $subjects) {
                foreach ($subjects as $subject => $latencies) {
                    ['median' => $median, 'p99' => $p99, 'max' => $max] = Stats::summary($latencies);
                    $table->add(
                        "$store, $waiters waiting, " . self::NAMES[$subject],
                        ...array_map(
                            static fn (float $ns): string => self::number($ns / 1e3, 1),
                            [$median, $p99, $max],
                        ),
                        ...[self::number(count($latencies))],
                    );
                }
            }
        }

        return $table;
    }

    /**
     * @param bool   $counted what servers got for each was measured too
     * @param string $key     of what was measured, where it was
     */
    private function contentionTable(bool $counted, string $key = 'contention'): Table
    {
        $head = ['', 'per second', 'of the ideal', 'least', 'most', 'least : most'];
        $table = new Table(...$head, ...$counted ? ['requests each'] : []);
        foreach ($this->measured['stores'] as $store => $part) {
            foreach ($part[$key] ?? [] as $processes => $subjects) {
                foreach ($subjects as $subject => $measured) {
                    $timesHeld = $measured['times_held'];
                    $rate = array_sum($timesHeld) / $measured['seconds'];
                    $cells = [
                        "$store, $processes processes, " . self::NAMES[$subject],
                        self::number($rate),
                        self::percent($rate, 1_000),
                        self::number(min($timesHeld)),
                        self::number(max($timesHeld)),
                        self::percent(min($timesHeld), max($timesHeld)),
                    ];
                    if ($counted) {
                        $cells[] = $measured['requests'] === null
                            ? ''
                            : self::number(self::requestsEach($measured), 2);
                    }
                    $table->add(...$cells);
                }
            }
        }

        return $table;
    }

    private function addHandOffs(Picture $picture): void
    {
        foreach ($this->measured['stores'] as $store => $part) {
            foreach ($part['handoff_ns'] as $waiters => $subjects) {
                $bars = [];
                foreach ($subjects as $subject => $latencies) {
                    $bars[self::LONG_NAMES[$subject]] = Stats::median($latencies) / 1e3;
                }
                $picture->add("$store, $waiters waiting", $bars);
            }
        }
    }

    /** @param array{times_held: list<int>, requests: array<string, int>} $measured */
    private static function requestsEach(array $measured): float
    {
        return array_sum($measured['requests']) / max(1, array_sum($measured['times_held']));
    }

    private static function percent(float $part, float $whole): string
    {
        return self::number($part / max(1, $whole) * 100, 1) . ' %';
    }
}
