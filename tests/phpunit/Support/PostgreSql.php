<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Tools\DsnParser;
use Latch\Store\DoctrineDbalPostgreSqlStore;
use Latch\Store\PostgreSqlStore;
use Latch\Tests\PostgreSqlServer;

/**
 * PostgreSQL as a process of the tests uses it: stores of the classes under test, on all that they can be
 * made of.
 */
final class PostgreSql
{
    // Those of PostgreSqlServer, which peers do not have.
    private const USER = 'latch';
    private const PASSWORD = 'never-told-8642';
    private const DATABASE = 'latch';

    public const CLIENTS = ['PDO', 'DSN', 'DBAL', 'URL'];

    private static ?PostgreSqlServer $server = null;

    /** The server that the tests of one process share; nothing is locked. */
    public static function server(): PostgreSqlServer
    {
        self::$server ??= new PostgreSqlServer();
        gc_collect_cycles(); // what a test before has left
        self::$server->awaitHeld(0);

        return self::$server;
    }

    public static function pdo(int $port): \PDO
    {
        return new \PDO(
            "pgsql:host=127.0.0.1;port=$port;dbname=" . self::DATABASE,
            self::USER,
            self::PASSWORD,
            [\PDO::ATTR_ERRMODE => \PDO::ERRMODE_EXCEPTION],
        );
    }

    /** For StoreFactory, as PDO has it. */
    public static function dsn(int $port, string $scheme = 'pgsql+advisory'): string
    {
        return "$scheme:host=127.0.0.1;port=$port;dbname=" . self::DATABASE
            . ';user=' . self::USER . ';password=' . self::PASSWORD;
    }

    /** For StoreFactory, as Doctrine has it. */
    public static function url(int $port, string $scheme = 'postgresql+advisory'): string
    {
        return "$scheme://" . self::USER . ':' . self::PASSWORD . "@127.0.0.1:$port/" . self::DATABASE;
    }

    /** @param value-of<self::CLIENTS> $client */
    public static function store(int $port, string $client): PostgreSqlStore|DoctrineDbalPostgreSqlStore
    {
        return match ($client) {
            'PDO' => new PostgreSqlStore(self::pdo($port)),
            'DSN' => new PostgreSqlStore(
                "pgsql:host=127.0.0.1;port=$port;dbname=" . self::DATABASE,
                ['db_username' => self::USER, 'db_password' => self::PASSWORD],
            ),
            'DBAL' => new DoctrineDbalPostgreSqlStore(
                DriverManager::getConnection((new DsnParser())->parse(self::url($port, 'pdo-pgsql'))),
            ),
            'URL' => new DoctrineDbalPostgreSqlStore(self::url($port)),
        };
    }
}
