<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour\Queues;

use Latch\Tests\PostgreSqlServer;
use Latch\Tests\SqlServer;

/**
 * Doctrine: a table with the messages of all transports.
 */
final class SqlQueues implements Queues
{
    private ?\PDO $pdo = null;

    /**
     * @param string           $url     of the database, for Doctrine
     * @param \Closure(): \PDO $connect
     * @param bool             $listens whether idle workers listen to notifications, and look for delayed messages once in a
     *                                  minute unless they are told to
     */
    private function __construct(
        private readonly string $url,
        private readonly \Closure $connect,
        private readonly bool $listens,
    ) {
    }

    /** In a file, which Doctrine makes. */
    public static function inSqlite(string $file): self
    {
        return new self("sqlite:///$file", static fn (): \PDO => new \PDO("sqlite:$file"), false);
    }

    public static function inPostgreSql(PostgreSqlServer $server): self
    {
        return new self(self::url($server->port), $server->pdo(...), true);
    }

    /** Of a PostgreSQL server of the tests, for Doctrine. */
    public static function url(int $port): string
    {
        return \sprintf('postgresql://%s:%s@127.0.0.1:%d/%s?serverVersion=15', SqlServer::USER, SqlServer::PASSWORD, $port, SqlServer::DATABASE);
    }

    public function dsn(string $transport, string $consumer, array $options): string
    {
        $options += $this->listens ? ['check_delayed_interval' => '100'] : [];

        return 'doctrine://queue?' . http_build_query(['queue_name' => $transport] + $options);
    }

    /** Any worker takes a message for lost after a second. */
    public function redeliverSoon(): array
    {
        return ['redeliver_timeout' => '1'];
    }

    public function notified(): array
    {
        return $this->listens ? ['check_delayed_interval' => '3600000'] : [];
    }

    public function listeners(): ?int
    {
        $listeners = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'";

        return $this->listens ? (int) $this->run($listeners, [])->fetchColumn() : null;
    }

    public function environment(): array
    {
        return ['APP_QUEUE_DATABASE' => $this->url];
    }

    public function empty(): void
    {
        $this->pdo()->exec('DELETE FROM messenger_messages');
    }

    public function count(string $transport): int
    {
        return (int) $this->run('SELECT count(*) FROM messenger_messages WHERE queue_name = ?', [$transport])->fetchColumn();
    }

    public function change(string $transport, string $text, string $by): int
    {
        return $this->run(
            'UPDATE messenger_messages SET body = replace(body, :text, :by), headers = replace(headers, :text, :by)
            WHERE queue_name = :queue AND (body LIKE :any OR headers LIKE :any)',
            ['text' => $text, 'by' => $by, 'queue' => $transport, 'any' => "%$text%"],
        )->rowCount();
    }

    public function duplicate(string $transport, string $text): void
    {
        $this->run(
            'INSERT INTO messenger_messages (body, headers, queue_name, created_at, available_at)
            SELECT body, headers, queue_name, created_at, available_at FROM messenger_messages
            WHERE queue_name = ? AND body LIKE ?',
            [$transport, "%$text%"],
        );
    }

    public function lose(string $transport): void
    {
        $this->run('DELETE FROM messenger_messages WHERE queue_name = ?', [$transport]);
    }

    /**
     * @param array<int|string, string> $values
     */
    private function run(string $sql, array $values): \PDOStatement
    {
        $statement = $this->pdo()->prepare($sql);
        $statement->execute($values);

        return $statement;
    }

    private function pdo(): \PDO
    {
        return $this->pdo ??= ($this->connect)();
    }
}
