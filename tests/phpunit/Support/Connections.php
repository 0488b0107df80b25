<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

use Latch\Store\StoreFactory;

/**
 * DSNs for which Symfony has a store and Latch none, and what StoreFactory makes of them.
 */
final class Connections
{
    public const COMPOSERS = [
        'sqlite::memory:',
        'sqlite:/tmp/sqlite.db',
        'mysql:host=localhost;dbname=test;',
        'pgsql:host=localhost;dbname=test;',
        'oci:host=localhost;dbname=test;',
        'sqlsrv:server=localhost;Database=test',
        'mssql://server.example/test',
        'mysql://server.example/test',
        'mysql2://server.example/test',
        'oci8://server.example/test',
        'pdo_oci://server.example/test',
        'pgsql://server.example/test',
        'postgres://server.example/test',
        'postgresql://server.example/test',
        'sqlite:///tmp/test',
        'sqlite3:///tmp/test',
        'memcached://server.example',
        'memcached:?host[localhost]&host[localhost:12345]',
        'memcached://server.example:port',
        'mongodb://localhost/test',
        'mongodb+srv://localhost/test',
        'zookeeper://localhost:2181',
        'zookeeper://localhost01,localhost02:2181',
        'dynamodb://localhost/test',
        'rediss:///run/redis.sock',
        'valkeys:?host[/run/redis.sock:]',
        'redis://localhost/1?redis_cluster=1',
        'redis:?host[localhost:1]&host[localhost:2]',
        'redis:?host[localhost]=alias%3Da',
        'redis://localhost?ssl[verify_peer]=0',
        'redis://localhost?prefix=shop:',
        'redis://localhost?what_only_others_know=1',
    ];

    /**
     * What becomes of each: the store's class, or the exception's with its message.
     *
     * @return array<string, string>
     */
    public static function outcomes(): array
    {
        $outcomes = [];
        foreach (self::COMPOSERS as $dsn) {
            try {
                $outcomes[$dsn] = StoreFactory::createStore($dsn)::class;
            } catch (\Throwable $e) {
                $outcomes[$dsn] = $e::class . ': ' . $e->getMessage();
            }
        }

        return $outcomes;
    }
}
