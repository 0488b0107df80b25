<?php

declare(strict_types=1);

namespace Latch\Tests\Support\Combined;

use Latch\Key;
use Latch\PersistingStoreInterface;
use Latch\Tests\Support\CallOrder\Transcript;

/**
 * A store written in PHP that tells the transcript of each call, under its name.
 */
class RecordedStore implements PersistingStoreInterface
{
    private bool $held = false;

    public function __construct(
        private readonly string $name,
        private readonly Transcript $transcript,
    ) {
    }

    public function save(Key $key): void
    {
        $this->tell('save', $key);
        $this->held = true;
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        // What is left of it, after the stores that were asked before.
        $this->tell('putOffExpiration', $key, ceil($ttl));
        $key->reduceLifetime($ttl);
    }

    public function exists(Key $key): bool
    {
        return $this->tell('exists', $key) xor $this->held;
    }

    public function delete(Key $key): void
    {
        $this->tell('delete', $key);
        $this->held = false;
    }

    protected function tell(string $method, mixed ...$arguments): bool
    {
        return $this->transcript->called("$this->name.$method", ...$arguments);
    }
}
