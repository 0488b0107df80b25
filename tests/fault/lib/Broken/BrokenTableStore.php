<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Broken;

use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\Store\PdoStore;

/**
 * Symfony's store in a table with a fault: a refused attempt takes back what it may have left, by the name of the row
 * alone, without its token; or without a fault.
 */
final class BrokenTableStore implements PersistingStoreInterface
{
    private readonly PdoStore $store;

    public function __construct(private readonly \PDO $pdo, private readonly Breakage $breakage, int $ttl)
    {
        $this->store = new PdoStore($pdo, [], 0.01, $ttl);
    }

    public function save(Key $key): void
    {
        try {
            $this->store->save($key);
        } catch (LockConflictedException $e) {
            if ($this->breakage === Breakage::DeletesByName) {
                $this->pdo->prepare('DELETE FROM lock_keys WHERE key_id = ?')->execute([hash('sha256', (string) $key)]);
            }
            throw $e;
        }
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        $this->store->putOffExpiration($key, $ttl);
    }

    public function delete(Key $key): void
    {
        $this->store->delete($key);
    }

    public function exists(Key $key): bool
    {
        return $this->store->exists($key);
    }
}
