<?php

declare(strict_types=1);

namespace Latch\Demo;

/**
 * What was booked: by one customer, by one worker, or by all of them.
 */
final class Tally
{
    public function __construct(
        public readonly int $bookings = 0,
        public readonly int $seats = 0,
        public readonly int $cents = 0,
    ) {
    }

    public function plus(self $other): self
    {
        return new self(
            $this->bookings + $other->bookings,
            $this->seats + $other->seats,
            $this->cents + $other->cents,
        );
    }

    public function minus(self $other): self
    {
        return new self(
            $this->bookings - $other->bookings,
            $this->seats - $other->seats,
            $this->cents - $other->cents,
        );
    }
}
