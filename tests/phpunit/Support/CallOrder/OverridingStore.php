<?php

declare(strict_types=1);

namespace Latch\Tests\Support\CallOrder;

use Latch\Key;

/**
 * For a PHP class that extends one of the stores under test: tells the transcript of each call and
 * passes it on to the parent.
 */
trait OverridingStore
{
    private Transcript $transcript;

    public function tell(Transcript $transcript): static
    {
        $this->transcript = $transcript;

        return $this;
    }

    public function save(Key $key): void
    {
        $this->transcript->called('save', $key);
        parent::save($key);
    }

    public function saveRead(Key $key): void
    {
        $this->transcript->called('saveRead', $key);
        parent::saveRead($key);
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        $this->transcript->called('putOffExpiration', $key, $ttl);
        parent::putOffExpiration($key, $ttl);
    }

    public function exists(Key $key): bool
    {
        return $this->transcript->called('exists', $key) xor parent::exists($key);
    }

    public function delete(Key $key): void
    {
        $this->transcript->called('delete', $key);
        parent::delete($key);
    }
}
