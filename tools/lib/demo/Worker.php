<?php

declare(strict_types=1);

namespace Latch\Demo;

use Latch\LockFactory;
use Latch\Store\FlockStore;

/**
 * One process that books, and keeps its own tally of what it booked.
 */
final class Worker
{
    private const REPORT_EVERY_NS = 50_000_000;

    private Tally $booked;
    private int $overlaps = 0;
    private readonly Balance $balance;

    public function __construct(private readonly string $folder)
    {
        $this->booked = new Tally();
        $this->balance = new Balance("$folder/balance");
    }

    /**
     * Makes so many bookings and reports to the parent now and then, and at the end.
     *
     * @param resource $parent
     */
    public function run(int $bookings, bool $locked, $parent): void
    {
        $lock = (new LockFactory(new FlockStore($this->folder)))->createLock('balance');
        $reportAt = 0;

        for ($i = 0; $i < $bookings; ++$i) {
            if ($locked) {
                $lock->acquire(true);
            }
            $this->book();
            if ($locked) {
                $lock->release();
            }
            if (hrtime(true) >= $reportAt) {
                $this->report($parent);
                $reportAt = hrtime(true) + self::REPORT_EVERY_NS;
            }
        }

        $this->report($parent);
    }

    /**
     * One booking, and a check for other processes at the same time: only one process at a time can
     * create the marker. The check is independent of the lock.
     */
    private function book(): void
    {
        $marker = "$this->folder/somebody-is-booking";
        $alone = @fopen($marker, 'x');

        $booking = $this->balance->book(random_int(1, 4), random_int(20, 90) * 100);
        $this->booked = $this->booked->plus($booking);

        if ($alone) {
            fclose($alone);
            unlink($marker);
        } else {
            ++$this->overlaps;
        }
    }

    /** @param resource $parent */
    private function report($parent): void
    {
        $report = new Report($this->booked, $this->overlaps);
        if (@fwrite($parent, $report->toLine()) === false) {
            exit(1); // The parent is gone: these bookings are not needed any more.
        }
    }
}
