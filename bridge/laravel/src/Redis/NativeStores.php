<?php

declare(strict_types=1);

namespace Latch\Laravel\Redis;

use Illuminate\Redis\Connections\Connection;
use Illuminate\Redis\Connections\PhpRedisClusterConnection;
use Illuminate\Redis\Connections\PhpRedisConnection;
use Illuminate\Redis\Connections\PredisClusterConnection;
use Illuminate\Redis\Connections\PredisConnection;
use Illuminate\Redis\RedisManager;
use Latch\Exception\ExceptionInterface as LockException;
use Latch\Store\RedisStringStore;
use Psr\Log\LoggerInterface;

/**
 * Latch's stores for the servers of Laravel's Redis connections, whose locks are those of Laravel's cache: what one acquires the
 * other finds taken.
 *
 * Where Laravel's connection tells by which DSN, a store has a connection of its own, which it shares with other stores of
 * the same server, login, database and prefix. Otherwise it works on the connection's client object, and its waiters poll.
 */
final class NativeStores
{
    /** @var \WeakMap<Connection, Native> the last answer */
    private \WeakMap $natives;

    /** @var array<string, true> connections whose reason has been logged */
    private array $reported = [];

    /**
     * @param \Closure(): mixed               $manager  of Redis connections: Laravel's, or what an application has instead
     * @param \Closure(string): (string|null) $dsn      of the connection with that name, if the application has one for it
     * @param bool                            $hasPeers processes without Latch wait for the same locks; false: Latch finds out
     * @param \Closure(): LoggerInterface     $logger
     */
    public function __construct(
        private readonly \Closure $manager,
        private readonly \Closure $dsn,
        private readonly bool $hasPeers,
        private readonly \Closure $logger,
    ) {
        $this->natives = new \WeakMap();
    }

    /** Null: locks of this connection are Laravel's own, see whyNot(). */
    public function of(Connection $connection): ?RedisStringStore
    {
        return $this->native($connection)->store;
    }

    /** Why locks of this connection are Laravel's own; null: they are Latch's. A text without login. */
    public function whyNot(Connection $connection): ?string
    {
        return $this->native($connection)->reason;
    }

    /** The DSN of the connection's store, without login; null: there is no store, or it works on the client object. */
    public function dsn(Connection $connection): ?string
    {
        return $this->native($connection)->dsn;
    }

    /** @return array<string, mixed> nothing, as the closures lead to passwords */
    public function __debugInfo(): array
    {
        return [];
    }

    private function native(Connection $connection): Native
    {
        $client = $connection->client();
        $prefix = self::prefix($client);
        $database = $client instanceof \Redis ? (int) $client->getDbNum() : null;
        $native = $this->natives[$connection] ?? null;
        // A client is replaced when its connection is lost; its prefix and database change with the tenant.
        if ($native?->client !== $client || $native->prefix !== $prefix || $native->database !== $database) {
            $native = $this->make($connection, new Native($client, $prefix, $database));
            $this->natives[$connection] = $native;
        }

        return $native;
    }

    private function make(Connection $connection, Native $native): Native
    {
        try {
            $dsn = $this->dsnOf($connection, $native);
            $native->dsn = $dsn === null ? null : Dsn::withoutLogin($dsn);
            $native->store = new RedisStringStore($dsn ?? $native->client);
        } catch (LockException $e) {
            $native->reason = $e->getMessage();
        } catch (\TypeError) {
            $native->reason = 'Latch cannot use its client, of class ' . get_debug_type($native->client);
        }
        if ($native->reason !== null) {
            $native->dsn = null;
            $this->report((string) $connection->getName(), $native->reason);
        }

        return $native;
    }

    private function dsnOf(Connection $connection, Native $native): ?string
    {
        $dsn = ($this->dsn)((string) $connection->getName());
        $manager = $dsn === null ? $this->stockManager() : null;
        if ($manager !== null) {
            $dsn = match ($connection::class) {
                PhpRedisConnection::class => PhpRedisDsn::ofServer($connection),
                PhpRedisClusterConnection::class => PhpRedisDsn::ofCluster($connection, $manager),
                PredisConnection::class, PredisClusterConnection::class => PredisDsn::of($connection),
                default => null,
            };
        }

        return $dsn === null ? null : Dsn::with($dsn, array_filter([
            'dbindex' => $native->database,
            'prefix' => $native->prefix,
            'peers' => $this->hasPeers ? 'yes' : null,
        ], static fn (mixed $value): bool => $value !== null && $value !== ''));
    }

    /** Null: another driver's connections may be those of a Sentinel, or of a pool, whatever their class. */
    private function stockManager(): ?RedisManager
    {
        $manager = ($this->manager)();
        $isStock = $manager instanceof RedisManager && $manager::class === RedisManager::class
            && !(fn (): bool => isset($this->customCreators[$this->driver]))->call($manager);

        return $isStock ? $manager : null;
    }

    /** Of keys; null: none, or one that only the client knows. */
    private static function prefix(mixed $client): ?string
    {
        return match (true) {
            $client instanceof \Redis, $client instanceof \RedisCluster => $client->_prefix(''),
            $client instanceof \Predis\Client => PredisDsn::prefix($client),
            default => null,
        };
    }

    private function report(string $connection, string $reason): void
    {
        if (!isset($this->reported[$connection])) {
            $this->reported[$connection] = true;
            ($this->logger)()->warning("Latch: locks of the Redis connection \"$connection\" are Laravel's own: $reason");
        }
    }
}
