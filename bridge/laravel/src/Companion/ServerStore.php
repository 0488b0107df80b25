<?php

declare(strict_types=1);

namespace Latch\Laravel\Companion;

use Illuminate\Database\Connection;
use Latch\Exception\ExceptionInterface as LockException;
use Latch\PersistingStoreInterface;
use Latch\Store\MysqlStore;
use Latch\Store\PostgreSqlStore;

/**
 * The advisory locks of the server of one of Laravel's connections.
 *
 * @internal
 */
final class ServerStore
{
    /** Options of libpq that Laravel passes on. */
    private const POSTGRESQL_OPTIONS = ['sslmode', 'sslcert', 'sslkey', 'sslrootcert'];

    /** Names of PDO's attributes for TLS, of which Latch uses the values. */
    private const MYSQL_ATTRIBUTES = ['ATTR_SSL_CA', 'ATTR_SSL_CAPATH', 'ATTR_SSL_CERT', 'ATTR_SSL_KEY', 'ATTR_SSL_CIPHER',
        'ATTR_SSL_VERIFY_SERVER_CERT'];

    /**
     * Null: the driver has no advisory locks, or the server cannot be told from the configuration.
     *
     * @throws LockException when Latch does not accept the configuration
     */
    public static function of(Connection $connection): ?PersistingStoreInterface
    {
        $config = $connection->getConfig();
        $options = [
            'db_username' => (string) ($config['username'] ?? ''),
            'db_password' => (string) ($config['password'] ?? ''),
        ];

        return match ($connection->getDriverName()) {
            'pgsql' => self::postgreSql($config, $options),
            'mysql', 'mariadb' => self::mySql($config, $options),
            default => null,
        };
    }

    /**
     * @param array<string, mixed>  $config
     * @param array<string, string> $options
     */
    private static function postgreSql(array $config, array $options): ?PostgreSqlStore
    {
        $dsn = self::dsn('pgsql', [
            'host' => $config['host'] ?? null,
            'port' => $config['connect_via_port'] ?? $config['port'] ?? null,
            'dbname' => $config['connect_via_database'] ?? $config['database'] ?? null,
        ]);
        $options += array_intersect_key($config, array_flip(self::POSTGRESQL_OPTIONS));

        return $dsn === null ? null : new PostgreSqlStore($dsn, $options + ['digest' => 'sha256']);
    }

    /**
     * @param array<string, mixed>  $config
     * @param array<string, string> $options
     */
    private static function mySql(array $config, array $options): ?MysqlStore
    {
        $dsn = self::dsn('mysql', empty($config['unix_socket'])
            ? ['host' => $config['host'] ?? null, 'port' => $config['port'] ?? null, 'dbname' => $config['database'] ?? null]
            : ['unix_socket' => $config['unix_socket'], 'dbname' => $config['database'] ?? null]);
        $attributes = array_intersect_key((array) ($config['options'] ?? []), self::mySqlAttributes());

        return $dsn === null ? null : new MysqlStore($dsn, $options + ['db_connection_options' => $attributes]);
    }

    /**
     * @param array<string, mixed> $parts
     *
     * @return string|null null: a part is a list of hosts, or has characters that a DSN cannot have
     */
    private static function dsn(string $scheme, array $parts): ?string
    {
        $texts = [];
        foreach (array_filter($parts, static fn (mixed $part): bool => $part !== null && $part !== '') as $name => $part) {
            if (!\is_scalar($part) || preg_match('/[;\'"\\\\\s]/', (string) $part)) {
                return null;
            }
            $texts[] = "$name=$part";
        }

        return "$scheme:" . implode(';', $texts);
    }

    /**
     * @return array<int, string> names by the numbers that they have in this PHP
     */
    private static function mySqlAttributes(): array
    {
        $names = [];
        foreach (self::MYSQL_ATTRIBUTES as $name) {
            // PDO's own constants are deprecated from PHP 8.5 on.
            $constant = class_exists(\Pdo\Mysql::class) ? "Pdo\\Mysql::$name" : "PDO::MYSQL_$name";
            if (\defined($constant)) {
                $names[\constant($constant)] = $name;
            }
        }

        return $names;
    }
}
