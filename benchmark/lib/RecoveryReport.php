<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What the numbers of Recovery come to.
 */
final class RecoveryReport extends Report
{
    /** Of Symfony's createLock(), in seconds. */
    public const USUAL_TTL = 300;
    /** How much later than a lease ends the next one may have the lock, in ms; as in HandOffReport. */
    private const LATE_MS = 50;

    protected function title(): string
    {
        return 'Locks whose holder was killed';
    }

    protected function numbers(): array
    {
        return $this->measured;
    }

    protected function tables(): array
    {
        return ['From the kill until the next one has the lock: milliseconds' => $this->recoveryTable()];
    }

    public function targets(): array
    {
        $targets = [];
        foreach ($this->measured['stores']['redis'] ?? [] as $ttl => $measured) {
            $targets[] = Target::atMost(
                "TTL $ttl s: slowest recovery",
                $ttl * 1e3 + self::LATE_MS,
                'ms',
                max($measured['recovery_ns']) / 1e6,
            );
            $targets[] = Target::atMost(
                "TTL $ttl s: from the end of the lease to the next holder, at most",
                self::LATE_MS,
                'ms',
                max(self::delays($measured)) / 1e6,
            );
        }
        foreach ($this->measured['stores']['shm'] ?? [] as $measured) {
            $targets[] = Target::atMost(
                'shared memory: from the kill to the next holder, 90 of 100',
                2,
                'ms',
                Stats::percentile($measured['recovery_ns'], 90) / 1e6,
            );
        }

        return $targets;
    }

    public function picture(): RecoveryPicture
    {
        $picture = new RecoveryPicture(
            'A process is killed: how long until the next one has its lock',
            "{$this->measured['holders']} processes each, at moments spread over the time between two renewals",
        );
        foreach ($this->measured['stores'] as $store => $ttls) {
            foreach ($ttls as $ttl => $measured) {
                $picture->add(
                    $ttl > 0 ? "TTL $ttl s" : $store,
                    $ttl,
                    array_map(static fn (int $ns): float => $ns / 1e9, $measured['recovery_ns']),
                );
            }
        }

        return $picture;
    }

    private function recoveryTable(): Table
    {
        $table = new Table('', 'number', 'min', 'median', 'max', 'to be expected', 'after the lease, median', 'max');
        foreach ($this->measured['stores'] as $store => $ttls) {
            foreach ($ttls as $ttl => $measured) {
                ['min' => $min, 'median' => $median, 'max' => $max, 'count' => $count]
                    = Stats::summary($measured['recovery_ns']);
                $ms = array_map(static fn (float $ns): string => self::ms($ns), [$min, $median, $max]);
                $ttl > 0
                    ? $table->add("$store, TTL $ttl s, kept alive", "$count", ...$ms, ...self::leaseCells($ttl, $measured))
                    : $table->add("$store, without a TTL", "$count", ...$ms, ...['at once', '', '']);
            }
        }
        $name = sprintf('not kept alive, TTL %d s, not measured', self::USUAL_TTL);
        $table->add($name, '', '', '', '', sprintf('0 to %s', self::number(self::USUAL_TTL * 1e3)), '', '');

        return $table;
    }

    /**
     * @param array{recovery_ns: list<int>, lease_ns: list<int>} $measured
     *
     * @return list<string>
     */
    private static function leaseCells(int $ttl, array $measured): array
    {
        $delays = self::delays($measured);

        return [
            sprintf('%s to %s', self::number($ttl * 2e3 / 3), self::number($ttl * 1e3)),
            self::ms(Stats::median($delays)),
            self::ms(max($delays)),
        ];
    }

    /**
     * @param array{recovery_ns: list<int>, lease_ns: list<int>} $measured
     *
     * @return non-empty-list<int> ns from the ends of the leases
     */
    private static function delays(array $measured): array
    {
        return array_map(
            static fn (int $recovery, int $lease): int => $recovery - $lease,
            $measured['recovery_ns'],
            $measured['lease_ns'],
        );
    }

    private static function ms(float $ns): string
    {
        return self::number($ns / 1e6, 1);
    }
}
