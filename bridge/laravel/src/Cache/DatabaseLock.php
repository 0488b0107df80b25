<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Latch\Laravel\Companion\Companion;
use Latch\Laravel\Companion\Companions;

/**
 * A lock that is a row of a table, with a queue.
 */
final class DatabaseLock extends \Illuminate\Cache\DatabaseLock
{
    use StandsInQueue;

    protected function companionOf(Companions $companions): Companion
    {
        $database = $this->connection->getDatabaseName();
        $table = $this->connection->getTablePrefix() . $this->table;

        return $companions->inDatabase($this->connection, "$database.$table.$this->name");
    }
}
