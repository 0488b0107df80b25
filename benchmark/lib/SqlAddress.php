<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use PDO;

/**
 * Where a database server is, as PDO takes it and so do the stores of Latch and Symfony.
 */
final class SqlAddress
{
    /** @param string $dsn with a socket, a user without a password, and a database */
    public function __construct(public readonly string $dsn)
    {
    }

    /** @return 'postgresql'|'mysql' the store that has its locks there, and the program in C */
    public function store(): string
    {
        return str_starts_with($this->dsn, 'pgsql:') ? 'postgresql' : 'mysql';
    }

    /** @return list<string> what that program takes */
    public function parts(): array
    {
        if ($this->store() === 'postgresql') {
            return [strtr(substr($this->dsn, strlen('pgsql:')), ';', ' ')];
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

    /** @return array<string, string> */
    private function parameters(): array
    {
        parse_str(strtr(strstr($this->dsn, ':'), [':' => '', ';' => '&']), $parameters);

        return $parameters;
    }
}
