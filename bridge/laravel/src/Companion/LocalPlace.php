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
     * waiters some milliseconds, see Companion::awaitHold().
     */
    private const HOLDS = 4096;

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
        $this->holds ??= new FlockStore($this->directory);

        return new Lock(new Key(sprintf('hold-%03x', crc32($name) % self::HOLDS)), $this->holds);
    }

    public function queue(string $name): Lock
    {
        // A file of its own, as the wait for it is long: and it is made only where a process waits.
        $this->queues ??= new FlockStore($this->directory, removeOnRelease: true);

        return new Lock(new Key("queue-$name"), $this->queues);
    }
}
