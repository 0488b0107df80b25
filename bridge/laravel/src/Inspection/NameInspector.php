<?php

declare(strict_types=1);

namespace Latch\Laravel\Inspection;

use Illuminate\Contracts\Cache\LockProvider;

/**
 * Locks that can only be asked for by name: those in files, whose names are digests, and in memcached, which lists nothing.
 *
 * @internal
 */
final class NameInspector implements Inspector
{
    /** The expiry in the file of a lock that never expires. */
    private const NEVER = 9999999999;

    public function __construct(private readonly LockProvider $store)
    {
    }

    public function held(bool $foreign): iterable
    {
        throw new CannotTell('it does not list its locks. Ask for one: --pattern=NAME');
    }

    public function find(string $name): ?HeldLock
    {
        $lock = $this->store->lock($name);
        $owner = (fn (): mixed => $this->getCurrentOwner())->call($lock);

        return $owner === null || $owner === false || $owner === ''
            ? null
            : new HeldLock($name, (string) $owner, remaining: $lock instanceof \Illuminate\Cache\FileLock ? self::rest($lock) : null);
    }

    /** Seconds, from the file; null: it never expires. */
    private static function rest(\Illuminate\Cache\FileLock $lock): ?float
    {
        $path = (fn (): string => $this->store->path($this->name))->call($lock);
        // Expiry and owner. Without the file the lock has just been released.
        $expiry = (int) @file_get_contents($path, length: 10);

        return $expiry === self::NEVER ? null : (float) max(0, $expiry - time());
    }
}
