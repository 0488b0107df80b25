<?php

declare(strict_types=1);

namespace Latch\Demo;

use RuntimeException;

/**
 * The one file that all workers book from.
 *
 * A booking reads the file, computes and writes it back. Two workers that do so at the same time
 * read the same balance, and what the first one writes is overwritten by the second: a lost
 * update. Nothing here prevents that; it is what the lock is for.
 */
final class Balance
{
    /** Fixed width, so that a write replaces the whole line and no reader gets half of it. */
    private const LINE = "%012d bookings %012d seats %012d cents\n";

    public function __construct(private readonly string $file)
    {
    }

    public function open(): void
    {
        $this->write(new Tally());
    }

    public function book(int $seats, int $centsPerSeat): Tally
    {
        $booking = new Tally(1, $seats, $seats * $centsPerSeat);
        $this->write($this->read()->plus($booking));

        return $booking;
    }

    public function read(): Tally
    {
        $numbers = sscanf((string) file_get_contents($this->file), self::LINE);
        if (!is_array($numbers) || in_array(null, $numbers, true)) {
            throw new RuntimeException("{$this->file} is no balance.");
        }

        return new Tally(...$numbers);
    }

    private function write(Tally $tally): void
    {
        $line = sprintf(self::LINE, $tally->bookings, $tally->seats, $tally->cents);
        $file = fopen($this->file, 'c');
        if ($file === false || fwrite($file, $line) !== strlen($line)) {
            throw new RuntimeException("{$this->file} cannot be written.");
        }
        fclose($file);
    }
}
