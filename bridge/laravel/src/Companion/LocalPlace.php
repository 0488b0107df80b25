<?php

declare(strict_types=1);

namespace Latch\Laravel\Companion;

use Latch\Key;
use Latch\Lock;
use Latch\Store\FlockStore;
use Psr\Log\LoggerInterface;

/**
 * Companion locks of the processes of this machine: files.
 *
 * @internal
 */
final class LocalPlace extends Place
{
    /**
     * Files of holds are shared and stay, as to make and remove one with each lock is slow. Two locks with one file cost their
     * waiters some milliseconds, see Companion::awaitHold(). A queue has a file of its own, as the wait for it is long.
     */
    private const HOLDS = 4096;

    /** Removes the files of queues that nobody stands in, in one of so many waits. */
    private const SWEEP_ODDS = 100;

    private ?FlockStore $holds = null;
    private ?FlockStore $queues = null;

    /**
     * @param string                      $directory created if it is missing
     * @param \Closure(): LoggerInterface $logger
     */
    public function __construct(private readonly string $directory, \Closure $logger)
    {
        parent::__construct($directory, $logger);
    }

    public function hold(string $name): Lock
    {
        $this->holds ??= new FlockStore("$this->directory/holds");

        return new Lock(new Key(sprintf('hold-%03x', crc32($name) % self::HOLDS)), $this->holds);
    }

    public function queue(string $name): Lock
    {
        $this->queues ??= new FlockStore("$this->directory/queues");
        if (random_int(1, self::SWEEP_ODDS) === 1) {
            $this->sweep();
        }

        return new Lock(new Key($name), $this->queues);
    }

    /**
     * FlockStore's own removeOnRelease would do it while others wait, who then lose their places.
     */
    private function sweep(): void
    {
        foreach (@scandir("$this->directory/queues") ?: [] as $name) {
            $path = "$this->directory/queues/$name";
            $file = is_file($path) ? @fopen($path, 'r') : false;
            if ($file !== false) {
                if (flock($file, \LOCK_EX | \LOCK_NB)) {
                    @unlink($path);
                }
                fclose($file);
            }
        }
    }
}
