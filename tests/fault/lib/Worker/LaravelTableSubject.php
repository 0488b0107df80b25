<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Illuminate\Cache\DatabaseLock;
use Illuminate\Database\Connection;
use Illuminate\Database\MySqlConnection;
use Illuminate\Database\PostgresConnection;
use Illuminate\Database\SQLiteConnection;
use Latch\Tests\Fault\Record\Teller;

/**
 * Laravel's DatabaseLock.
 */
final class LaravelTableSubject implements Subject
{
    private const TABLE = 'cache_locks';
    private const CONNECTIONS = [
        'pgsql' => PostgresConnection::class,
        'mysql' => MySqlConnection::class,
        'sqlite' => SQLiteConnection::class,
    ];

    private ?Connection $connection = null;

    public function __construct(private readonly TablePlace $place)
    {
    }

    public function traits(): array
    {
        return [Teller::EXPIRING, Teller::EXCLUSIVE_ONLY, Teller::TTL_IN_SECONDS, Teller::HIDES_ERRORS];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        $this->connection ??= new (self::CONNECTIONS[$this->place->driver()])(
            new \PDO($this->place->dsn, null, null, [\PDO::ATTR_ERRMODE => \PDO::ERRMODE_EXCEPTION]),
        );
        $lock = new DatabaseLock($this->connection, self::TABLE, $resource, (int) $ttl);

        return new LaravelTableHandle($lock, (int) $ttl, $autoRelease);
    }

    public function recover(): void
    {
        $this->connection = null;
    }
}
