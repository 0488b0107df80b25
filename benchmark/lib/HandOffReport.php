<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What the numbers of HandOff come to.
 */
final class HandOffReport extends Report
{
    use QueueTables;

    private const LONG_NAMES = [
        'latch' => 'Latch',
        'symfony' => 'Symfony Lock',
    ];

    protected function title(): string
    {
        return 'Locks that many wait for';
    }

    protected function numbers(): array
    {
        $numbers = $this->measured;
        foreach ($numbers['stores'] as &$part) {
            $part['handoff_ns'] = array_map(self::summaries(...), $part['handoff_ns']);
        }
        if (isset($numbers['floor_ns'])) {
            $numbers['floor_ns'] = Stats::summary($numbers['floor_ns']);
        }

        return $numbers;
    }

    protected function tables(): array
    {
        $tables = [
            'From a release to the next holder, until nobody waits any more: microseconds'
                => $this->handOffTable(),
        ];
        if (isset($this->measured['floor_ns'])) {
            $tables['The same with one waiting, beside a message and a request in C: microseconds']
                = $this->floorTable();
        }
        $tables += [
            'Endless contention, holds of 1 ms' => $this->contentionTable(true),
        ];
        if (isset($this->measured['stores']['flock'])) {
            $tables['Endless contention, holds of 1 ms that compute'] = $this->contentionTable(false, 'computing');
        }
        if (isset($this->measured['long_holds'])) {
            $tables += [
                'Endless contention, holds of 1 s, in Redis' => $this->longHoldTable(),
                'Symfony beside Latch, in Redis: acquisitions of each process' => $this->peersTable(),
            ];
        }

        return $tables + ['Processes that are killed: milliseconds without a holder' => $this->killedTable()];
    }

    public function targets(): array
    {
        $stores = $this->measured['stores'];

        return [
            ...isset($stores['redis']) ? $this->redisTargets() : [],
            ...isset($stores['flock']) ? self::flockTargets($stores['flock']) : [],
            ...isset($stores['shm']) ? self::sharedMemoryTargets($stores['shm']) : [],
        ];
    }

    /**
     * @param array<string, array<int, mixed>> $measured
     *
     * @return list<Target>
     */
    private static function flockTargets(array $measured): array
    {
        $targets = [];
        foreach (['contention' => 'contend', 'computing' => 'contend and compute'] as $key => $what) {
            foreach ($measured[$key] as $processes => ['latch' => ['times_held' => $timesHeld]]) {
                $targets[] = Target::atLeast(
                    "flock, $processes $what: smallest share, of the largest",
                    60,
                    '%',
                    min($timesHeld) / max($timesHeld) * 100,
                );
            }
        }

        return $targets;
    }

    /**
     * @param array<string, array<int, mixed>> $measured
     *
     * @return list<Target>
     */
    private static function sharedMemoryTargets(array $measured): array
    {
        $targets = [];
        foreach ($measured['handoff_ns'] as $waiters => ['latch' => $latencies]) {
            $targets[] = Target::atMost(
                "shared memory, hand-off, $waiters waiting, median",
                0.05,
                'ms',
                Stats::median($latencies) / 1e6,
            );
        }
        foreach ($measured['contention'] as $processes => ['latch' => ['times_held' => $timesHeld]]) {
            $targets[] = Target::atLeast(
                "shared memory, $processes contend: smallest share, of the largest",
                90,
                '%',
                min($timesHeld) / max($timesHeld) * 100,
            );
        }

        return $targets;
    }

    public function picture(): Picture
    {
        $picture = new Picture(
            'How long a lock lies idle that somebody waits for',
            "from a release to the next holder, median, microseconds; {$this->machine['processor']}",
        );
        $this->addHandOffs($picture);

        return $picture;
    }

    /** @return list<Target> */
    private function redisTargets(): array
    {
        ['handoff_ns' => $handOff, 'contention' => $contention, 'killed_ns' => $killed]
            = $this->measured['stores']['redis'];
        $targets = [];
        foreach ([1, 32] as $waiters) {
            $targets[] = Target::atMost(
                "hand-off, $waiters waiting, median",
                0.5,
                'ms',
                Stats::median($handOff[$waiters]['latch']) / 1e6,
            );
        }
        foreach ([8, 32] as $processes) {
            $timesHeld = $contention[$processes]['latch']['times_held'];
            $targets[] = Target::atLeast(
                "$processes contend: smallest share, of the largest",
                90,
                '%',
                min($timesHeld) / max($timesHeld) * 100,
            );
        }
        foreach ([8, 32] as $processes) {
            $targets[] = Target::atMost(
                "$processes contend, holds of 1 ms: for an acquisition",
                4,
                'requests',
                self::requestsEach($contention[$processes]['latch']),
            );
        }
        $holders = $this->measured['peers']['times_held'];

        return [
            ...$targets,
            Target::atMost(
                'holds of 1 s: for an acquisition',
                4,
                'requests',
                self::requestsEach($this->measured['long_holds']['latch']),
            ),
            Target::atMost(
                'half of 32 waiters killed: longest time without a holder',
                20,
                'ms',
                max($killed['latch']) / 1e6,
            ),
            Target::atMost(
                'holder killed: from the end of its lease to the next holder, at most',
                50,
                'ms',
                max($this->measured['lease_ns']['latch']) / 1e6,
            ),
            Target::atLeast(
                'two Symfony processes among six of Latch: smallest share',
                2,
                '%',
                min($holders['symfony']) / array_sum(array_merge(...array_values($holders))) * 100,
            ),
        ];
    }

    private function floorTable(): Table
    {
        $floor = Stats::median($this->measured['floor_ns']);
        $table = new Table('', 'median', 'to C');
        $table->add('redis, hiredis in C, without a lock', self::number($floor / 1e3, 1), '1.00');
        foreach ($this->measured['stores']['redis']['handoff_ns'][1] as $subject => $latencies) {
            $median = Stats::median($latencies);
            $table->add(
                'redis, ' . self::NAMES[$subject],
                self::number($median / 1e3, 1),
                self::number($median / $floor, 2),
            );
        }

        return $table;
    }

    private function longHoldTable(): Table
    {
        $table = new Table('', 'acquisitions', 'requests', 'requests each');
        foreach ($this->measured['long_holds'] as $subject => $measured) {
            $table->add(
                count($measured['times_held']) . ' processes, ' . self::NAMES[$subject],
                self::number(array_sum($measured['times_held'])),
                self::number(array_sum($measured['requests'])),
                self::number(self::requestsEach($measured), 2),
            );
        }

        return $table;
    }

    private function peersTable(): Table
    {
        ['times_held' => $timesHeld, 'seconds' => $seconds] = $this->measured['peers'];
        $all = array_sum(array_merge(...array_values($timesHeld)));
        $table = new Table('', 'least', 'most', 'smallest share', 'all, per second');
        foreach ($timesHeld as $subject => $counts) {
            $table->add(
                count($counts) . ' of ' . self::NAMES[$subject],
                self::number(min($counts)),
                self::number(max($counts)),
                self::percent(min($counts), $all),
                self::number(array_sum($counts) / $seconds),
            );
        }

        return $table;
    }

    private function killedTable(): Table
    {
        $table = new Table('', 'median', 'max', 'number');
        $add = static fn (string $row, array $times) => $table->add(
            $row,
            self::number(Stats::median($times) / 1e6, 2),
            self::number(max($times) / 1e6, 2),
            self::number(count($times)),
        );
        foreach ($this->measured['stores'] as $store => $part) {
            foreach ($part['killed_ns'] as $subject => $times) {
                $add("$store, half of 32 waiters, the longest time, " . self::NAMES[$subject], $times);
            }
        }
        foreach ($this->measured['lease_ns'] ?? [] as $subject => $times) {
            $add("redis, holder, from its lease's end, " . self::NAMES[$subject], $times);
        }

        return $table;
    }
}
