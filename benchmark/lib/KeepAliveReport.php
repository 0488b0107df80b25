<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What the numbers of KeepAlive come to.
 */
final class KeepAliveReport extends Report
{
    private const MANY = 1_000;

    protected function title(): string
    {
        return 'Locks that are kept alive';
    }

    protected function numbers(): array
    {
        return array_intersect_key($this->measured, ['rounds' => true, 'none' => true, 'kept' => true]);
    }

    protected function tables(): array
    {
        return [
            'Each third of the TTL' => $this->table(),
        ];
    }

    public function targets(): array
    {
        $targets = [];
        foreach ($this->measured['kept'] as $ttl => $counts) {
            $many = $counts[self::MANY];
            $name = number_format(self::MANY) . " locks, TTL $ttl s:";
            array_push(
                $targets,
                Target::atMost("$name of a processor", 1.0, '%', $this->percent($ttl, self::MANY)),
                Target::atMost(
                    "$name which renew them",
                    1.0,
                    'thread',
                    $many['threads'] - $this->measured['none']['threads'],
                ),
                Target::atMost("$name each third", 1.0, 'pipeline', $many['server']['bunches'] / $many['thirds']),
            );
        }

        return $targets;
    }

    public function picture(): Picture
    {
        $picture = new Picture(
            'What it costs to keep locks alive',
            'microseconds of processor time in a second, shorter is better; ' . $this->machine['processor'],
        );
        foreach ($this->measured['kept'] as $ttl => $counts) {
            $bars = [];
            foreach (array_keys($counts) as $locks) {
                $bars[self::locks($locks)] = $this->percent($ttl, $locks) * 1e4;
            }
            $picture->add("TTL $ttl s", $bars);
        }

        return $picture;
    }

    /** Of a processor, without what a process costs that keeps nothing. */
    private function percent(int $ttl, int $locks): float
    {
        $us = static fn (array $part): float => Stats::median($part['each_third']['processor_us']);

        return max(0.0, $us($this->measured['kept'][$ttl][$locks]) - $us($this->measured['none'])) / ($ttl / 3 * 1e6) * 100;
    }

    private static function locks(int $locks): string
    {
        return number_format($locks) . ($locks === 1 ? ' lock' : ' locks');
    }

    private function table(): Table
    {
        $table = new Table(
            '',
            'processor, %',
            'us a renewal',
            'renewals',
            'pipelines',
            'reads of the server',
            'bytes',
            'sleeps',
            'threads',
            'connections',
        );
        foreach ($this->measured['kept'] as $ttl => $counts) {
            foreach ($counts as $locks => $kept) {
                $each = static fn (string $what): float => $kept['server'][$what] / $kept['thirds'];
                $percent = $this->percent($ttl, $locks);
                $table->add(
                    "TTL $ttl s, " . self::locks($locks),
                    self::number($percent, 3),
                    self::number($percent / 100 * $ttl / 3 * 1e6 / $locks, 1),
                    self::number($each('requests'), 1),
                    self::number($each('bunches'), 1),
                    self::number($each('reads'), 1),
                    self::number($each('bytes')),
                    self::number(Stats::median($kept['each_third']['sleeps'])),
                    self::number($kept['threads']),
                    self::number($kept['connections']),
                );
            }
        }

        return $table;
    }
}
