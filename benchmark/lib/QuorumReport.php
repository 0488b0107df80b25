<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What the numbers of Quorum come to.
 */
final class QuorumReport extends Report
{
    private const SETTINGS = ['near' => 'on one processor', 'apart' => 'the servers on another processor'];
    private const LONG_NAMES = [
        'latch' => 'Latch',
        'symfony' => 'Symfony Lock, phpredis',
        'c' => 'side by side, in C',
    ];
    private const TROUBLES = [
        'killed' => 'killed: it refuses connections',
        'stopped' => 'stopped: it is silent',
        'slow' => 'slow: by ' . QuorumTrouble::DELAY_MS . ' ms',
    ];
    private const PAIR = 'acquire, release';

    protected function title(): string
    {
        return 'Locks in a quorum of Redis servers';
    }

    protected function numbers(): array
    {
        return [
            'rounds' => $this->measured['rounds'],
            'settings' => array_map(
                static fn (array $sizes): array => array_map(static fn (array $part): array => [
                    'costs_ns' => array_map(self::summaries(...), $part['costs_ns']),
                    'requests' => $part['requests'],
                ], $sizes),
                $this->measured['settings'],
            ),
            'trouble' => $this->measured['trouble'],
        ];
    }

    protected function tables(): array
    {
        $rounds = $this->measured['rounds'];
        $tables = [];
        foreach ($this->measured['settings'] as $setting => $sizes) {
            $title = 'All well, ' . self::SETTINGS[$setting] . ": ns, median of $rounds rounds";
            $tables[$title] = self::costTable(self::rows($sizes, 'costs_ns'), ['latch', 'symfony', 'c', 'c-all']);
        }

        return $tables + [
            'One of three in trouble: ms' => $this->troubleTable(),
            'What all servers together have to do for each' => $this->requestTable(),
        ];
    }

    public function targets(): array
    {
        $targets = [];
        foreach ($this->measured['settings']['near'] as $size => $part) {
            $targets[] = Target::atMost(
                "$size servers, acquire, release: of all asked side by side in C",
                1.3,
                'x',
                self::ratio($part['costs_ns'][self::PAIR], 'latch', 'c'),
            );
        }
        foreach (['killed', 'stopped'] as $trouble) {
            $targets[] = Target::atMost(
                "one of three $trouble: the time that is lost by it",
                QuorumTrouble::TIMEOUT_MS,
                'ms',
                max($this->measured['trouble'][$trouble]['latch']['lost']) / 1e6,
            );
        }

        return $targets;
    }

    public function picture(): Picture
    {
        $costs = static fn (array $part): array => $part['costs_ns'][self::PAIR];
        $near = $this->measured['settings']['near'];

        return $this->bars(
            'What a lock in a quorum of Redis servers costs that nobody else wants',
            ['three servers' => $costs($near[3]), 'five servers' => $costs($near[5])],
            self::LONG_NAMES,
        );
    }

    /**
     * @param array<int, array<string, mixed>> $sizes
     *
     * @return array<string, array<string, mixed>> of all sizes, by row and subject
     */
    private static function rows(array $sizes, string $what): array
    {
        $rows = [];
        foreach ($sizes as $size => $part) {
            foreach ($part[$what] as $row => $subjects) {
                $rows["$size servers, $row"] = $subjects;
            }
        }

        return $rows;
    }

    private function troubleTable(): Table
    {
        $table = new Table(
            '',
            'before',
            'first acquire',
            'first release',
            'acquire',
            'release',
            'slowest pair',
            'lost in all',
            'pairs',
        );
        foreach ($this->measured['trouble'] as $trouble => $subjects) {
            foreach ($subjects as $subject => $measured) {
                $ms = static fn (string $what): string => self::number(Stats::median($measured[$what]) / 1e6, 3);
                $table->add(
                    self::TROUBLES[$trouble] . ', ' . self::NAMES[$subject],
                    $ms('before'),
                    $ms('first acquire'),
                    $ms('first release'),
                    $ms('acquire'),
                    $ms('release'),
                    self::number(max($measured['slowest']) / 1e6, 3),
                    self::number(max($measured['lost']) / 1e6, 1),
                    self::number(Stats::median($measured['pairs'])),
                );
            }
        }

        return $table;
    }

    private function requestTable(): Table
    {
        $table = new Table('', 'requests', 'all commands', 'bytes', 'time, us');
        foreach (self::rows($this->measured['settings']['near'], 'requests') as $row => $subjects) {
            foreach ($subjects as $subject => $counted) {
                $table->add(
                    "$row, " . self::NAMES[$subject],
                    self::number($counted['requests'], 2),
                    self::number($counted['commands'], 1),
                    self::number($counted['bytes']),
                    self::number($counted['server_us'], 1),
                );
            }
        }

        return $table;
    }
}
