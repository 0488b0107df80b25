<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Key;
use Latch\Lock;
use Latch\Store\PdoStore;
use Latch\Tests\Fault\Record\Teller;

/**
 * The extension, with locks in a table.
 */
final class TableSubject implements Subject
{
    private ?PdoStore $store = null;

    /** @param bool $byObject whether the store is given a \PDO object */
    public function __construct(private readonly TablePlace $place, private readonly bool $byObject = false)
    {
    }

    public function traits(): array
    {
        return [
            Teller::EXPIRING, Teller::EXCLUSIVE_ONLY, Teller::WHOLE_SECONDS, Teller::TTL_IN_SECONDS,
            // A destructor whose connection is gone says nothing.
            Teller::LATE_RELEASE,
            // A refused attempt has had one of its two rows.
            ...$this->place->names === 'both' ? [Teller::SINGLY] : [],
            // A session of its own in PostgreSQL has a queue.
            ...!$this->byObject && $this->place->driver() === 'pgsql' ? [Teller::FIRST_COME, Teller::ASKS_AGAIN] : [],
        ];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        return $this->lockOf(new Key($resource), $ttl, $autoRelease);
    }

    public function lockOf(Key $key, float $ttl, bool $autoRelease): LatchHandle
    {
        $this->store ??= new PdoStore(
            $this->byObject ? new \PDO($this->place->dsn) : $this->place->dsn,
            // Beside Symfony's layout there are options of names alone.
            $this->place->layout === TablePlace::LARAVEL
                ? ['layout' => TablePlace::LARAVEL]
                : ['names' => $this->place->names],
            $this->place->gc,
        );

        return new LatchHandle(new Lock($key, $this->store, $ttl, $autoRelease), true);
    }

    public function recover(): void
    {
        if ($this->byObject) {
            $this->store = null;
        }
    }
}
