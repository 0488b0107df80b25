<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Fault\Worker\TablePlace;

/**
 * The table that workers share.
 */
final class Rows
{
    /** By what name the server knows this process. */
    public const USER = 'rows';

    /** Creations of the tables. In Symfony's layout a worker creates it, where all of them may use what one has created. */
    private const CREATIONS = [
        'pgsql' => [
            TablePlace::SYMFONY => 'CREATE TABLE lock_keys (key_id varchar(64) PRIMARY KEY,'
                . ' key_token varchar(64) NOT NULL, key_expiration integer); GRANT ALL ON lock_keys TO PUBLIC',
            TablePlace::LARAVEL => 'CREATE TABLE cache_locks ("key" varchar(255) PRIMARY KEY,'
                . ' owner varchar(255) NOT NULL, expiration bigint NOT NULL); GRANT ALL ON cache_locks TO PUBLIC',
        ],
        'mysql' => [
            TablePlace::LARAVEL => 'CREATE TABLE cache_locks (`key` varchar(255) PRIMARY KEY,'
                . ' owner varchar(255) NOT NULL, expiration bigint NOT NULL) COLLATE utf8mb4_unicode_ci ENGINE = InnoDB',
        ],
        'sqlite' => [
            TablePlace::LARAVEL => 'CREATE TABLE cache_locks ("key" varchar PRIMARY KEY NOT NULL,'
                . ' owner varchar NOT NULL, expiration integer NOT NULL)',
        ],
    ];

    private readonly TablePlace $place;

    /** @param string $dsn this process's own */
    public function __construct(string $layout, private readonly string $dsn)
    {
        $this->place = new TablePlace($dsn, $layout, '', 0);
        if ($this->place->driver() === 'sqlite') {
            $this->connect()->exec('PRAGMA journal_mode = WAL');
        }
        $creation = self::CREATIONS[$this->place->driver()][$layout] ?? null;
        if ($creation !== null) {
            $this->connect()->exec($creation);
        }
    }

    /** For a worker. */
    public function place(Options $options, ?string $dsn): string
    {
        return (string) new TablePlace($dsn ?? $this->dsn, $options->layout, $options->names, $options->prunings / 100);
    }

    /** @return array<string, int> for how many ms rows last that have not expired, by their names */
    public function living(): array
    {
        [$table, $name, $expiry] = $this->place->layout === TablePlace::LARAVEL
            ? ['cache_locks', $this->place->driver() === 'mysql' ? '`key`' : '"key"', 'expiration']
            : ['lock_keys', 'key_id', 'key_expiration'];
        $rows = [];
        foreach ($this->connect()->query("SELECT $name, $expiry FROM $table") ?: [] as [$key, $expires]) {
            $left = (int) (($expires - microtime(true)) * 1000);
            if ($left > 0) {
                $rows[(string) $key] = $left;
            }
        }

        return $rows;
    }

    private function connect(): \PDO
    {
        return new \PDO($this->dsn, null, null, [\PDO::ATTR_DEFAULT_FETCH_MODE => \PDO::FETCH_NUM]);
    }
}
