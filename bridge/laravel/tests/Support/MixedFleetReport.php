<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests\Support;

/**
 * What the processes of a fleet say, and what it comes to.
 */
final class MixedFleetReport
{
    /**
     * @param list<array{acquired: int, overlaps: int, longestNs: int, errors: array<string, int>}> $bridge of each process
     * @param list<array{acquired: int, overlaps: int, longestNs: int, errors: array<string, int>}> $stock
     * @param int $witnessed acquisitions, by the number that holders have counted up
     */
    public function __construct(
        private readonly Driver $driver,
        private readonly array $bridge,
        private readonly array $stock,
        private readonly int $witnessed,
    ) {
    }

    /** Acquisitions in which another process had the lock, too. */
    public function overlaps(): int
    {
        $seen = array_sum(array_column([...$this->bridge, ...$this->stock], 'overlaps'));

        return max($seen, $this->acquired($this->bridge) + $this->acquired($this->stock) - $this->witnessed);
    }

    public function line(): string
    {
        return sprintf("%-10s %s; %s; %d overlaps\n", $this->driver->value,
            $this->side('with Latch', $this->bridge), $this->side('stock', $this->stock), $this->overlaps());
    }

    /**
     * What locks have thrown other than that the time is over: a line for each message, with what stands in it for values.
     */
    public function errors(): string
    {
        $lines = '';
        foreach (['with Latch' => $this->bridge, 'stock' => $this->stock] as $side => $tallies) {
            $numbers = [];
            foreach (array_merge(...array_map(static fn (array $tally): array => array_map(
                null,
                array_keys($tally['errors']),
                $tally['errors'],
            ), $tallies)) as [$message, $number]) {
                $message = (string) preg_replace(['/\d{6,}/', '/\b[A-Za-z0-9]{16}\b/'], '…', $message);
                $numbers[$message] = ($numbers[$message] ?? 0) + $number;
            }
            foreach ($numbers as $message => $number) {
                $lines .= "           $side, $number times: $message\n";
            }
        }

        return $lines;
    }

    /**
     * @param list<array{acquired: int, longestNs: int}> $tallies
     */
    private function side(string $name, array $tallies): string
    {
        return sprintf('%s %s = %d times, longest wait %.2f s', $name, implode(' + ', array_column($tallies, 'acquired')),
            $this->acquired($tallies), max([0, ...array_column($tallies, 'longestNs')]) / 1e9);
    }

    /**
     * @param list<array{acquired: int}> $tallies
     */
    private function acquired(array $tallies): int
    {
        return array_sum(array_column($tallies, 'acquired'));
    }
}
