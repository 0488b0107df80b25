<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

use Latch\Semaphore\SemaphoreInterface;

/**
 * Counts the permits that are out among all processes, and keeps the greatest number that there was.
 */
final class Census
{
    public function __construct(
        private readonly string $file,
    ) {
    }

    /** Takes the permits so many times, by polls, which every peer knows. */
    public function run(SemaphoreInterface $semaphore, int $weight, int $times): int
    {
        for ($i = 0; $i < $times; ++$i) {
            while (!$semaphore->acquire()) {
                usleep(random_int(100, 2000));
            }
            $this->count($weight);
            usleep(random_int(0, 500));
            $this->count(-$weight);
            $semaphore->release();
        }

        return $times;
    }

    /** @return array{int, int} how many are out now, and at most */
    public function read(): array
    {
        return array_map(intval(...), explode(' ', @file_get_contents($this->file) ?: '0 0'));
    }

    private function count(int $weight): void
    {
        $file = fopen($this->file, 'c+');
        flock($file, \LOCK_EX);
        [$now, $most] = array_map(intval(...), explode(' ', stream_get_contents($file) ?: '0 0'));
        $now += $weight;
        ftruncate($file, 0);
        rewind($file);
        fwrite($file, $now . ' ' . max($now, $most));
        fclose($file);
    }
}
