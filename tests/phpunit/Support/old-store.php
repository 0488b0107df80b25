<?php

/**
 * A store as it was written for Symfony before version 6: without return types.
 */

declare(strict_types=1);

use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\PersistingStoreInterface;

return new class () implements PersistingStoreInterface {
    private $holder;

    public function save(Key $key)
    {
        if ($this->holder !== null && $this->holder !== $key) {
            throw new LockConflictedException();
        }
        $this->holder = $key;
    }

    public function delete(Key $key)
    {
        if ($this->holder === $key) {
            $this->holder = null;
        }
    }

    public function exists(Key $key)
    {
        return $this->holder === $key;
    }

    public function putOffExpiration(Key $key, float $ttl)
    {
    }
};
