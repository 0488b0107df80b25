<?php

declare(strict_types=1);

namespace App\Handler;

use App\Journal;
use Symfony\Component\DependencyInjection\Attribute\Autowire;

/**
 * Places where handlers wait until the test lets them pass.
 */
final class Gates
{
    public function __construct(
        private readonly Journal $journal,
        #[Autowire('%env(APP_VAR)%/gate')] private readonly string $directory,
    ) {
    }

    public function pass(string $gate, string $message): void
    {
        $this->journal->write('at gate', $message, ['gate' => $gate]);
        while (!file_exists("$this->directory/$gate")) {
            usleep(2000);
            clearstatcache();
        }
    }

    /** Counts the tries of a message, in whichever process; the first is 1. */
    public function nextTry(string $message): int
    {
        $file = "$this->directory/tries of $message";
        file_put_contents($file, '.', \FILE_APPEND);
        clearstatcache();

        return (int) filesize($file);
    }
}
