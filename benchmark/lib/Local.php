<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * The measurements of `benchmark/run local`: the locks of one machine.
 *
 * Collects the raw numbers; what they come to is LocalReport's business.
 */
final class Local
{
    private const HANDOFFS = 350;
    private const CONTENDERS = 8;
    private const CONTENTION_SECONDS = 3;
    private const SIGNALS = 200;
    private const LOADS = 150;
    private const HELD_ROUNDS = 3;
    /** Each held flock needs a descriptor, each held semaphore one of the system's 32,000 sets. */
    private const HELD = [
        'memory' => [1, 1_000, 100_000],
        'flock' => [1, 1_000, 100_000],
        'semaphore' => [1, 1_000],
        'shm' => [1, 1_000, 10_000],
    ];
    private const SHARED_STORES = ['flock', 'semaphore', 'shm'];

    private readonly Programs $programs;

    public function __construct(private readonly int $rounds, private readonly string $folder)
    {
        $this->programs = new Programs('posix', 'sysvsem');
    }

    /** @return array<string, mixed> */
    public function measure(): array
    {
        return [
            'rounds' => $this->rounds,
            'costs_ns' => $this->costs(),
            'handoff_ns' => $this->handOff(),
            'contention' => $this->contention(),
            'signal_ns' => $this->signals(),
            'load_ns' => $this->load(),
            'held' => $this->held(),
        ];
    }

    private function costs(): array
    {
        Command::say("acquire and release, $this->rounds rounds");

        return $this->programs->part('cost', true, $this->rounds, $this->folder);
    }

    /**
     * Not pinned: in real life too, the kernel chooses where holder and waiter run.
     *
     * @return array<string, array<string, list<float>>> by store and subject
     */
    private function handOff(): array
    {
        Command::say('hand-off to a waiter');
        $count = (int) ceil(self::HANDOFFS / $this->rounds);
        $latencies = [];

        for ($round = 0; $round < $this->rounds; ++$round) {
            foreach (self::SHARED_STORES as $store) {
                foreach (Subject::with($store) as $subject) {
                    $arguments = [$subject->value, $store, $count, $this->folder];
                    $some = $this->programs->part('handoff', false, ...$arguments);
                    $latencies[$store][$subject->value][] = $some;
                }
            }
            $some = $this->programs->raw('handoff', $count, "$this->folder/handoff");
            $latencies['flock']['c'][] = $some;
        }

        return array_map(
            static fn (array $subjects): array => array_map(
                static fn (array $rounds): array => array_merge(...$rounds),
                $subjects,
            ),
            $latencies,
        );
    }

    private function contention(): array
    {
        Command::say('endless contention');
        [$processes, $seconds] = [self::CONTENDERS, self::CONTENTION_SECONDS];
        $counts = [];
        foreach (self::SHARED_STORES as $store) {
            foreach (Subject::with($store) as $subject) {
                $arguments = [$subject->value, $store, $processes, $seconds, $this->folder];
                $some = $this->programs->part('contend', false, ...$arguments);
                $counts[$store][$subject->value] = $some;
            }
        }
        $file = "$this->folder/contend";
        $counts['flock']['c'] = $this->programs->raw('contend', $processes, $seconds, $file);

        return ['seconds' => $seconds, 'times_held' => $counts];
    }

    /** @return array<string, list<float>> by store */
    private function signals(): array
    {
        Command::say('signal handlers during a wait');
        $latencies = [];
        foreach (self::SHARED_STORES as $store) {
            $arguments = [$store, self::SIGNALS, $this->folder];
            $latencies[$store] = $this->programs->part('signal', false, ...$arguments);
        }

        return $latencies;
    }

    private function load(): array
    {
        Command::say('loading the extension');

        return $this->programs->part('load', true, self::LOADS, $this->folder);
    }

    /** @return array<string, array<int, array<string, array<string, list<float>>>>> */
    private function held(): array
    {
        Command::say('many held locks');
        $held = [];
        for ($round = 0; $round < self::HELD_ROUNDS; ++$round) {
            foreach (self::HELD as $store => $counts) {
                foreach ($counts as $count) {
                    if ($store === 'flock') {
                        $count = min($count, self::mostDescriptors());
                    }
                    foreach (Subject::with($store) as $subject) {
                        $arguments = [$subject->value, $store, $count, $this->folder];
                        $values = $this->programs->part('held', true, ...$arguments);
                        foreach ($values as $what => $value) {
                            $held[$store][$count][$subject->value][$what][] = $value;
                        }
                    }
                }
            }
        }

        return $held;
    }

    /** How many files a process may hold, in thousands, with some room for others. */
    private static function mostDescriptors(): int
    {
        $limits = (string) file_get_contents('/proc/self/limits');
        preg_match('/^Max open files +(\d+)/m', $limits, $match);

        return max(500, intdiv((int) ($match[1] ?? 0) - 100, 1_000) * 1_000);
    }
}
