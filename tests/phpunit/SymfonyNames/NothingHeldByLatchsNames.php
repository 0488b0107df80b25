<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyNames;

use Latch\Key;

/**
 * The methods of a store that refuses nothing and keeps nothing, declared by the names Latch\….
 */
trait NothingHeldByLatchsNames
{
    public function save(Key $key): void
    {
    }

    public function delete(Key $key): void
    {
    }

    public function exists(Key $key): bool
    {
        return false;
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
    }
}
