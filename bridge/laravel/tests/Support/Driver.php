<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests\Support;

use Latch\Tests\MemcachedServer;
use Latch\Tests\MySqlServer;
use Latch\Tests\PostgreSqlServer;
use Latch\Tests\RedisServer;
use Latch\Tests\SqlServer;

/**
 * A cache store of the application, with its server. A server serves all tests of this PHPUnit.
 */
enum Driver: string
{
    case File = 'file';
    case Sqlite = 'sqlite';
    case MariaDb = 'mariadb';
    case PostgreSql = 'pgsql';
    case Memcached = 'memcached';
    case PhpRedis = 'redis';
    case Predis = 'redis-predis';

    /** @return list<self> */
    public static function databases(): array
    {
        return [self::Sqlite, self::MariaDb, self::PostgreSql];
    }

    /** Whether its locks are Latch's own, rather than Laravel's with a queue beside them. */
    public function isRedis(): bool
    {
        return $this === self::PhpRedis || $this === self::Predis;
    }

    /**
     * @return array<string, string|int>
     */
    public function env(Application $application): array
    {
        $server = $this->server();

        return match (true) {
            $server instanceof SqlServer => [
                'CACHE_STORE' => 'database', 'DB_CONNECTION' => $this->value, 'DB_HOST' => '127.0.0.1',
                'DB_PORT' => $server->port, 'DB_DATABASE' => SqlServer::DATABASE, 'DB_USERNAME' => SqlServer::USER,
                'DB_PASSWORD' => SqlServer::PASSWORD,
            ],
            $server instanceof MemcachedServer => [
                'CACHE_STORE' => 'memcached', 'MEMCACHED_HOST' => '127.0.0.1', 'MEMCACHED_PORT' => $server->port,
            ],
            $server instanceof RedisServer => [
                'CACHE_STORE' => 'redis', 'REDIS_CLIENT' => $this === self::Predis ? 'predis' : 'phpredis',
                'REDIS_HOST' => '127.0.0.1', 'REDIS_PORT' => $server->port,
            ],
            $this === self::Sqlite => [
                'CACHE_STORE' => 'database', 'DB_CONNECTION' => 'sqlite',
                'DB_DATABASE' => "$application->directory/database/database.sqlite",
            ],
            default => ['CACHE_STORE' => 'file'],
        };
    }

    /** Makes the tables. */
    public function prepare(Application $application): void
    {
        if (!\in_array($this, self::databases(), true)) {
            return;
        }
        if ($this === self::Sqlite) {
            touch("$application->directory/database/database.sqlite");
        }
        $application->startStock()->php(<<<'PHP'
            if (!Schema::hasTable('cache_locks')) {
                Artisan::call('make:cache-table');
                Artisan::call('migrate', ['--force' => true]);
            }
            PHP);
    }

    public function server(): SqlServer|MemcachedServer|RedisServer|null
    {
        /** @var array<string, SqlServer|MemcachedServer|RedisServer|null> $servers */
        static $servers = [];

        return $servers[$this->value] ??= match ($this) {
            self::MariaDb => new MySqlServer(),
            self::PostgreSql => new PostgreSqlServer(),
            self::Memcached => new MemcachedServer(),
            self::PhpRedis, self::Predis => new RedisServer(),
            default => null,
        };
    }
}
