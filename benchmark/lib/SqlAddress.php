<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Doctrine\DBAL\Connection;
use Doctrine\DBAL\DriverManager;
use Latch\Tests\MySqlServer;
use Latch\Tests\PostgreSqlServer;
use PDO;

/**
 * Where a database is, as PDO takes it and so do the stores of Latch and Symfony.
 */
final class SqlAddress
{
    /** @param string $dsn with a socket, a user without a password, and a database; or with SQLite's file */
    public function __construct(public readonly string $dsn)
    {
    }

    public static function of(PostgreSqlServer|MySqlServer $server): self
    {
        $where = $server instanceof PostgreSqlServer
            ? "pgsql:host=$server->directory;port=$server->port"
            : "mysql:unix_socket={$server->socket()}";

        return new self("$where;dbname=latch;user=admin");
    }

    /** @return 'postgresql'|'mysql'|'sqlite' the store that has its locks there, and the program in C */
    public function store(): string
    {
        return ['pgsql' => 'postgresql', 'mysql' => 'mysql', 'sqlite' => 'sqlite'][$this->driver()];
    }

    /** @return list<string> what that program takes */
    public function parts(): array
    {
        if ($this->store() !== 'mysql') {
            return [strtr(substr(strstr($this->dsn, ':'), 1), ';', ' ')];
        }
        ['unix_socket' => $socket, 'user' => $user, 'dbname' => $database] = $this->parameters();

        return [$socket, $user, $database];
    }

    /** The path of the socket. */
    public function socket(): string
    {
        $parameters = $this->parameters();

        return $parameters['unix_socket'] ?? "$parameters[host]/.s.PGSQL.$parameters[port]";
    }

    /** The same server by a socket in that folder. */
    public function through(string $folder): self
    {
        return new self(strtr($this->dsn, [dirname($this->socket()) => $folder]));
    }

    public function connect(): PDO
    {
        return new PDO($this->dsn);
    }

    public function connectDoctrine(): Connection
    {
        require_once getenv('LATCH_VENDOR') . '/autoload.php';

        return DriverManager::getConnection(['driver' => "pdo_{$this->driver()}"] + match ($this->store()) {
            'sqlite' => ['path' => $this->parts()[0]],
            default => $this->parameters(),
        });
    }

    /** The name of PDO's driver. */
    private function driver(): string
    {
        return strstr($this->dsn, ':', true);
    }

    /** @return array<string, string> */
    private function parameters(): array
    {
        parse_str(strtr(strstr($this->dsn, ':'), [':' => '', ';' => '&']), $parameters);

        return $parameters;
    }
}
