<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

use Latch\LockInterface;

/**
 * A ledger that loses bookings, or tells that two were in it at once, unless a lock guards it.
 */
final class Booking
{
    public function __construct(
        private readonly string $file,
    ) {
    }

    public function run(LockInterface $lock, int $times): int
    {
        for ($i = 0; $i < $times; ++$i) {
            $lock->acquire(true);
            $this->book();
            $lock->release();
        }

        return $times;
    }

    public function balance(): int
    {
        return (int) @file_get_contents($this->file);
    }

    private function book(): void
    {
        // Fails when somebody else is inside.
        $mark = fopen("$this->file.inside", 'x');
        if ($mark === false) {
            throw new \LogicException('Two holders at once.');
        }
        $balance = $this->balance();
        // Gives the others every chance.
        usleep(random_int(0, 20));
        file_put_contents($this->file, (string) ($balance + 1));
        fclose($mark);
        unlink("$this->file.inside");
    }
}
