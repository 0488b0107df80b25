<?php

declare(strict_types=1);

namespace Latch\Demo;

/**
 * What a run came to: what the workers booked, and what the file says.
 */
final class Result
{
    public readonly Tally $lost;

    public function __construct(
        public readonly Tally $booked,
        public readonly Tally $found,
        public readonly int $overlaps,
    ) {
        $this->lost = $booked->minus($found);
    }

    public function isClean(): bool
    {
        return $this->lost == new Tally() && $this->overlaps === 0;
    }
}
