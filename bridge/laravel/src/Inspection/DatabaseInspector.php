<?php

declare(strict_types=1);

namespace Latch\Laravel\Inspection;

use Illuminate\Cache\DatabaseStore;
use Illuminate\Database\Query\Builder;

/**
 * Locks that are rows of a table.
 *
 * @internal
 */
final class DatabaseInspector implements Inspector
{
    public function __construct(private readonly DatabaseStore $store)
    {
    }

    public function held(bool $foreign): iterable
    {
        foreach ($this->rows()->orderBy('key')->get() as $row) {
            $prefix = $this->store->getPrefix();
            if (str_starts_with($row->key, $prefix)) {
                yield self::of($row, substr($row->key, \strlen($prefix)));
            }
        }
    }

    public function find(string $name): ?HeldLock
    {
        $row = $this->rows()->where('key', $this->store->getPrefix() . $name)->first();

        return $row === null ? null : self::of($row, $name);
    }

    /** Of locks that have not expired. */
    private function rows(): Builder
    {
        // Which table and connection locks have, only they know.
        $lock = $this->store->lock('latch:locks');

        return (fn (): Builder => $this->connection->table($this->table)->useWritePdo())->call($lock)
            ->where('expiration', '>', time());
    }

    private static function of(object $row, string $name): HeldLock
    {
        return new HeldLock($name, $row->owner, remaining: (float) ($row->expiration - time()));
    }
}
