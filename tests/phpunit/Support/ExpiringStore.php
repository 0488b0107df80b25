<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

use Latch\Exception\LockConflictedException;
use Latch\Key;
use Latch\PersistingStoreInterface;

/**
 * A store written in PHP that keeps locks in an array and whose locks expire, like Redis'.
 */
final class ExpiringStore implements PersistingStoreInterface
{
    /** @var array<string, Key> */
    private array $holders = [];

    /**
     * @param bool $late whether every command takes longer than the time to live
     */
    public function __construct(
        private readonly bool $late = false,
    ) {
    }

    public function save(Key $key): void
    {
        $holder = $this->holders[(string) $key] ?? null;
        if ($holder !== null && $holder !== $key && !$holder->isExpired()) {
            throw new LockConflictedException();
        }
        $this->holders[(string) $key] = $key;
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        if (!$this->exists($key)) {
            throw new LockConflictedException();
        }
        $key->reduceLifetime($this->late ? 0.0 : $ttl);
    }

    public function exists(Key $key): bool
    {
        return ($this->holders[(string) $key] ?? null) === $key && !$key->isExpired();
    }

    public function delete(Key $key): void
    {
        if (($this->holders[(string) $key] ?? null) === $key) {
            unset($this->holders[(string) $key]);
        }
    }
}
