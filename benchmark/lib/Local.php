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
    private const HELD = ['memory' => [1, 1_000, 100_000], 'flock' => [1, 500]];

    private readonly Programs $programs;

    public function __construct(private readonly int $rounds, private readonly string $folder)
    {
        $this->programs = new Programs();
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
        self::say("acquire and release, $this->rounds rounds");

        return $this->programs->part('cost', true, $this->rounds, $this->folder);
    }

    /** Not pinned: in real life too, the kernel chooses where holder and waiter run. */
    private function handOff(): array
    {
        self::say('hand-off to a waiter');
        $count = (int) ceil(self::HANDOFFS / $this->rounds);
        $latencies = ['latch' => [], 'symfony' => [], 'c' => []];

        for ($round = 0; $round < $this->rounds; ++$round) {
            foreach (Subject::cases() as $subject) {
                $arguments = [$subject->value, $count, $this->folder];
                $some = $this->programs->part('handoff', false, ...$arguments);
                array_push($latencies[$subject->value], ...$some);
            }
            $some = $this->programs->raw('handoff', $count, "$this->folder/handoff");
            array_push($latencies['c'], ...$some);
        }

        return $latencies;
    }

    private function contention(): array
    {
        self::say('endless contention');
        [$processes, $seconds] = [self::CONTENDERS, self::CONTENTION_SECONDS];
        $counts = [];
        foreach (Subject::cases() as $subject) {
            $arguments = [$subject->value, $processes, $seconds, $this->folder];
            $counts[$subject->value] = $this->programs->part('contend', false, ...$arguments);
        }
        $file = "$this->folder/contend";
        $counts['c'] = $this->programs->raw('contend', $processes, $seconds, $file);

        return ['seconds' => $seconds, 'times_held' => $counts];
    }

    private function signals(): array
    {
        self::say('signal handlers during a wait');

        return $this->programs->part('signal', false, self::SIGNALS, $this->folder);
    }

    private function load(): array
    {
        self::say('loading the extension');

        return $this->programs->part('load', true, self::LOADS);
    }

    /** @return array<string, array<int, array<string, array<string, list<float>>>>> */
    private function held(): array
    {
        self::say('many held locks');
        $held = [];
        for ($round = 0; $round < self::HELD_ROUNDS; ++$round) {
            foreach (self::HELD as $store => $counts) {
                foreach ($counts as $count) {
                    foreach (Subject::cases() as $subject) {
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

    private static function say(string $what): void
    {
        fwrite(STDERR, "measuring: $what\n");
    }
}
