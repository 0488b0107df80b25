<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What the numbers of Redis come to.
 */
final class RedisReport extends Report
{
    private const SETTINGS = [
        'tcp' => 'TCP',
        'unix' => 'unix socket',
        'tls' => 'TLS',
        'cluster' => 'a cluster of three masters',
        'apart' => 'TCP, server on another processor',
    ];

    private const LONG_NAMES = [
        'latch' => 'Latch',
        'symfony' => 'Symfony Lock, phpredis',
        'c' => 'the same scripts in C',
    ];

    protected function title(): string
    {
        return 'Locks in Redis';
    }

    protected function numbers(): array
    {
        return [
            'rounds' => $this->measured['rounds'],
            'settings' => array_map(
                static fn (array $part): array => [
                    'costs_ns' => array_map(self::summaries(...), $part['costs_ns']),
                    'object_costs_ns' => array_map(self::summaries(...), $part['object_costs_ns']),
                    'latency_ns' => self::summaries($part['latency_ns']),
                    'requests' => $part['requests'],
                ],
                $this->measured['settings'],
            ),
        ];
    }

    protected function tables(): array
    {
        $rounds = $this->measured['rounds'];
        $tables = [];
        foreach ($this->measured['settings'] as $setting => $part) {
            $title = 'Without contention, ' . self::SETTINGS[$setting] . ": ns, median of $rounds rounds";
            $tables[$title] = self::costTable($part['costs_ns'], ['latch', 'symfony', 'c']);
        }

        foreach (['tcp' => 'Redis', 'cluster' => 'RedisCluster'] as $setting => $class) {
            $tables["On a \\$class object, TCP: ns, median of $rounds rounds"] = self::costTable(
                $this->measured['settings'][$setting]['object_costs_ns'],
                ['latch', 'symfony'],
            );
        }

        return $tables + [
            'Every single acquire and release: microseconds' => $this->latencyTable(),
            'What the server has to do for each' => $this->requestTable(),
        ];
    }

    public function targets(): array
    {
        $ratio = fn (string $row, string $subject, string $other, string $setting = 'tcp'): float
            => self::ratio($this->measured['settings'][$setting]['costs_ns'][$row], $subject, $other);

        return [
            Target::atMost(
                'acquire, release: of the same scripts in C',
                1.1,
                'x',
                $ratio('acquire, release', 'latch', 'c'),
            ),
            Target::atMost(
                'acquire, release, TLS: of the same scripts in C',
                1.15,
                'x',
                $ratio('acquire, release', 'latch', 'c', 'tls'),
            ),
            Target::atMost(
                'acquire, release, cluster: of the same scripts in C',
                1.15,
                'x',
                $ratio('acquire, release', 'latch', 'c', 'cluster'),
            ),
            Target::atMost(
                '1000 resources, cluster: of the same scripts in C',
                1.15,
                'x',
                $ratio('1000 resources', 'latch', 'c', 'cluster'),
            ),
            Target::atLeast(
                'acquire, release: faster than Symfony',
                1.8,
                'x',
                $ratio('acquire, release', 'symfony', 'latch'),
            ),
            Target::atLeast(
                'the destructor alone: faster than Symfony',
                3.5,
                'x',
                $ratio('the destructor alone', 'symfony', 'latch'),
            ),
            Target::atLeast(
                'acquire, release on a \Redis object: faster than Symfony',
                1.5,
                'x',
                self::ratio(
                    $this->measured['settings']['tcp']['object_costs_ns']['acquire, release'],
                    'symfony',
                    'latch',
                ),
            ),
        ];
    }

    public function picture(): Picture
    {
        $tcp = $this->measured['settings']['tcp']['costs_ns'];

        return $this->bars(
            'What a lock in Redis costs that nobody else wants',
            [
                'over TCP' => $tcp['acquire, release'],
                'unix socket' => $this->measured['settings']['unix']['costs_ns']['acquire, release'],
                'TLS' => $this->measured['settings']['tls']['costs_ns']['acquire, release'],
                'in a cluster' => $this->measured['settings']['cluster']['costs_ns']['acquire, release'],
                'by destructor' => $tcp['acquire, destructor'],
                'destructor alone' => $tcp['the destructor alone'],
            ],
            self::LONG_NAMES,
        );
    }

    private function latencyTable(): Table
    {
        $table = new Table('', 'median', '99 of 100', 'max', 'number');
        foreach ($this->measured['settings'] as $setting => $part) {
            foreach ($part['latency_ns'] as $subject => $latencies) {
                $values = [
                    Stats::median($latencies),
                    Stats::percentile($latencies, 99),
                    max($latencies),
                ];
                $table->add(
                    self::SETTINGS[$setting] . ', ' . self::NAMES[$subject],
                    ...array_map(static fn (float $ns): string => self::number($ns / 1e3, 1), $values),
                    ...[self::number(count($latencies))],
                );
            }
        }

        return $table;
    }

    private function requestTable(): Table
    {
        $table = new Table('', 'requests', 'all commands', 'bytes', 'time, us');
        $requests = $this->measured['settings']['tcp']['requests'];
        // That is a part of the row before it, which the server cannot tell apart.
        unset($requests['the destructor alone']);
        foreach ($requests as $row => $subjects) {
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
