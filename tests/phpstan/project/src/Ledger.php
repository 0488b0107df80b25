<?php

declare(strict_types=1);

namespace Shop;

use Latch\BlockingSharedLockStoreInterface;
use Latch\BlockingStoreInterface;
use Latch\Exception\LockConflictedException;
use Latch\Exception\LockExpiredException;
use Latch\Key;
use Latch\PersistingStoreInterface;
use Latch\SharedLockStoreInterface;

/** A store of one's own: writes down who locks what, and leaves the locking to another one. */
final class Ledger implements BlockingStoreInterface, BlockingSharedLockStoreInterface
{
    /** @var list<string> */
    public array $lines = [];

    public function __construct(private readonly PersistingStoreInterface $store)
    {
    }

    public function save(Key $key): void
    {
        $this->lines[] = "save $key";
        $this->store->save($key);
    }

    public function saveRead(Key $key): void
    {
        $this->lines[] = "save $key for reading";
        $this->store instanceof SharedLockStoreInterface ? $this->store->saveRead($key) : $this->store->save($key);
    }

    public function waitAndSave(Key $key): void
    {
        if ($this->store instanceof BlockingStoreInterface) {
            $this->store->waitAndSave($key);

            return;
        }
        while (true) {
            try {
                $this->store->save($key);

                return;
            } catch (LockConflictedException) {
                usleep(1000);
            }
        }
    }

    public function waitAndSaveRead(Key $key): void
    {
        if ($this->store instanceof BlockingSharedLockStoreInterface) {
            $this->store->waitAndSaveRead($key);
        } else {
            $this->waitAndSave($key);
        }
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        try {
            $this->store->putOffExpiration($key, $ttl);
        } catch (LockExpiredException $late) {
            $this->lines[] = "$key ran out meanwhile";
            throw $late;
        }
    }

    public function delete(Key $key): void
    {
        $this->lines[] = "delete $key";
        $this->store->delete($key);
    }

    public function exists(Key $key): bool
    {
        return $this->store->exists($key);
    }
}
