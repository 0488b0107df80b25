<?php

declare(strict_types=1);

namespace Latch\Demo;

/**
 * Progress of a worker: its tally, and how often it found another process at the file.
 */
final class Report
{
    public function __construct(
        public readonly Tally $booked = new Tally(),
        public readonly int $overlaps = 0,
    ) {
    }

    public function toLine(): string
    {
        $booked = $this->booked;

        return "$booked->bookings $booked->seats $booked->cents $this->overlaps\n";
    }

    public static function fromLine(string $line): self
    {
        [$bookings, $seats, $cents, $overlaps] = array_map('intval', explode(' ', $line));

        return new self(new Tally($bookings, $seats, $cents), $overlaps);
    }
}
