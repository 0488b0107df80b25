<?php

declare(strict_types=1);

namespace Latch\Tests\Support\CallOrder;

use Latch\Key;

/**
 * A store written in PHP that keeps the one lock of a scenario and tells the transcript of each call.
 * The classes that use it differ in the interfaces that they implement.
 */
trait ScriptedStore
{
    private bool $held = false;

    public function __construct(
        private readonly Transcript $transcript,
    ) {
    }

    public function save(Key $key): void
    {
        $this->transcript->called('save', $key);
        $this->held = true;
    }

    public function saveRead(Key $key): void
    {
        $this->transcript->called('saveRead', $key);
        $this->held = true;
    }

    public function waitAndSave(Key $key): void
    {
        $this->transcript->called('waitAndSave', $key);
        $this->held = true;
    }

    public function waitAndSaveRead(Key $key): void
    {
        $this->transcript->called('waitAndSaveRead', $key);
        $this->held = true;
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        $this->transcript->called('putOffExpiration', $key, $ttl);
        $key->reduceLifetime($ttl);
    }

    public function exists(Key $key): bool
    {
        return $this->transcript->called('exists', $key) xor $this->held;
    }

    public function delete(Key $key): void
    {
        $this->transcript->called('delete', $key);
        $this->held = false;
    }
}
