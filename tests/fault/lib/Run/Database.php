<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\MySqlServer;
use Latch\Tests\PostgreSqlServer;
use Latch\Tests\SqlError;
use Latch\Tests\SqlServer;

require_once \dirname(__DIR__, 3) . '/utils/postgresql.inc';
require_once \dirname(__DIR__, 3) . '/utils/mysql.inc';

/**
 * A database server that knows each worker by a name, to end the sessions of one of them. Locks are those of sessions,
 * or the rows of a table, which a crash leaves as they are.
 */
final class Database
{
    /** Seconds after which a session that was ended, or a lock that was given back, stays for ever. */
    private const PATIENCE = 5.0;

    /** Of PostgreSQL: the kernel has what it has answered. */
    private const KEEPING = ['-c', 'synchronous_commit=on', '-c', 'full_page_writes=on'];

    private readonly SqlServer $server;

    /** @param list<string> $users */
    public function __construct(private readonly bool $isPostgreSql, array $users, public readonly bool $isTable)
    {
        $this->server = $isPostgreSql
            // Latch asks for the interval in its sessions. MariaDB looks every second.
            ? new PostgreSqlServer(['-c', 'client_connection_check_interval=1s', ...$isTable ? self::KEEPING : []])
            : new MySqlServer($isTable ? ['--innodb-flush-log-at-trx-commit=2'] : []);
        foreach ($users as $user) {
            foreach ($this->creation($user) as $sql) {
                $this->server->rows($sql);
            }
        }
        if ($isTable && $isPostgreSql) {
            $this->server->rows('GRANT ALL ON SCHEMA public TO PUBLIC');
        }
        // A crash is not to undo this.
        $this->server->rows($isPostgreSql ? 'CHECKPOINT' : 'FLUSH TABLES');
    }

    /** For Latch and PDO. */
    public function dsn(string $user): string
    {
        return $this->server->pdoDsn() . ";user=$user;password=" . SqlServer::PASSWORD;
    }

    /** @return bool whether there were any; they are gone, with what they held */
    public function endSessions(string $user): bool
    {
        $ids = $this->sessions($user);
        foreach ($ids as $id) {
            try {
                $this->server->rows($this->isPostgreSql ? "SELECT pg_terminate_backend($id)" : "KILL $id");
            } catch (SqlError) {
                // It has ended by itself.
            }
        }
        $this->await(fn (): bool => array_intersect($ids, $this->sessions($user)) === []);

        return $ids !== [];
    }

    public function crash(): void
    {
        $this->server->restart();
    }

    /**
     * Locks that are held after the end of all holders; the last requests may be on their way.
     *
     * @return list<string> the users and the locks
     */
    public function remaining(): array
    {
        $this->await(fn (): bool => $this->server->held() + $this->server->waiting() === 0);
        $rows = $this->server instanceof MySqlServer
            ? $this->server->holders()
            : $this->server->rows('SELECT usename, mode, objid, granted FROM pg_locks JOIN pg_stat_activity USING (pid)'
                . " WHERE locktype = 'advisory'");

        return array_map(static fn (array $row): string => strtr(implode(':', $row), ' ', '_'), $rows);
    }

    /** @return list<string> numbers */
    private function sessions(string $user): array
    {
        // Of both servers a session frees its locks before it goes from here.
        return array_column($this->server->rows($this->isPostgreSql
            ? "SELECT pid FROM pg_stat_activity WHERE usename = '$user'"
            : "SELECT id FROM information_schema.processlist WHERE user = '$user'"), 0);
    }

    /** @return list<string> */
    private function creation(string $user): array
    {
        $password = SqlServer::PASSWORD;
        $database = SqlServer::DATABASE;

        return $this->isPostgreSql
            ? ["CREATE ROLE \"$user\" LOGIN PASSWORD '$password'"]
            : ["CREATE USER '$user' IDENTIFIED BY '$password'", "GRANT ALL ON $database.* TO '$user'"];
    }

    /** @param \Closure(): bool $happened */
    private function await(\Closure $happened): void
    {
        $end = microtime(true) + self::PATIENCE;
        while (!$happened() && microtime(true) < $end) {
            usleep(1000);
        }
    }
}
