<?php

declare(strict_types=1);

namespace Latch\Laravel\Companion;

/**
 * Gaps for peers, processes without Latch: once in a second the first waiter leaves a free lock alone for as long as they need to
 * poll it. Between processes with Latch a lock is free for a millisecond, in which hardly any poll falls.
 *
 * @internal
 */
final class PeerGaps
{
    /** Seconds. A peer polls every 250 ms. */
    public const LENGTH = 0.26;

    /** Locks share files of the directory, in which the processes of this machine write down when the last gap was. */
    private const FILES = 4096;

    /**
     * @param string $directory created if it is missing
     */
    public function __construct(private readonly string $directory)
    {
    }

    /** Whether this second has had no gap yet: it is the caller's. */
    public function isDue(string $name): bool
    {
        $path = sprintf('%s/gap-%03x', $this->directory, crc32($name) % self::FILES);
        clearstatcache(true, $path);
        if (@filemtime($path) === time()) {
            return false;
        }
        is_dir($this->directory) || @mkdir($this->directory, 0777, true);

        return @touch($path);
    }
}
