<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Illuminate\Support\Carbon;
use Latch\Laravel\Companion\Companion;
use Latch\Laravel\Companion\Companions;

/**
 * A lock that is a file, with a queue.
 *
 * Laravel's own removes an expired file that it has read, though another process may have acquired the lock since, and
 * written its own owner into that file: then a third one acquires it, too. Here a file is removed while it is locked, by its
 * owner alone.
 */
final class FileLock extends \Illuminate\Cache\FileLock
{
    use StandsInQueue;

    /** What the file of a lock begins with that never expires. */
    private const NEVER = '9999999999';

    protected function getCurrentOwner()
    {
        $file = @fopen($this->path(), 'r');
        if ($file === false) {
            return null;
        }
        flock($file, \LOCK_SH);
        [$isValid, $owner] = self::read($file);
        fclose($file);

        return $isValid ? @unserialize($owner, ['allowed_classes' => false]) : null;
    }

    protected function companionOf(Companions $companions): Companion
    {
        return $companions->local("file.{$this->path()}");
    }

    private function releaseOwn(): bool
    {
        while (($file = @fopen($this->path(), 'r+')) !== false) {
            flock($file, \LOCK_EX);
            // Another process may have removed the file while this one waited.
            if (fstat($file)['nlink'] > 0) {
                break;
            }
            fclose($file);
        }
        if ($file === false) {
            return false;
        }
        [$isValid, $owner] = self::read($file);
        $isOwn = $owner === serialize($this->owner);
        if ($isOwn) {
            unlink($this->path());
            // For a process that has opened the file, to acquire the lock: it must not do that in a removed file.
            rewind($file);
            fwrite($file, self::NEVER);
        }
        fclose($file);

        return $isValid && $isOwn;
    }

    private function path(): string
    {
        return $this->store->path($this->name);
    }

    /**
     * @param resource $file
     *
     * @return array{bool, string} whether it has not expired; the owner, serialised
     */
    private static function read($file): array
    {
        $contents = (string) stream_get_contents($file);

        return [Carbon::now()->getTimestamp() < (int) substr($contents, 0, 10), substr($contents, 10)];
    }
}
