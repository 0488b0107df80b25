<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use PDO;
use PDOStatement;
use Symfony\Component\Lock\Exception\LockAcquiringException;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\PersistingStoreInterface;
use WeakMap;

/**
 * A store for Symfony's component that runs the statements of the MysqlStore of Symfony 8.2, which is not
 * published yet: one for each acquire and each release, prepared once. Like that one it cannot wait.
 */
final class SymfonyMysqlStore implements PersistingStoreInterface
{
    private readonly PDO $connection;
    private readonly PDOStatement $save;
    private readonly PDOStatement $delete;
    private readonly PDOStatement $exists;
    /** @var WeakMap<Key, true> those that hold their locks */
    private readonly WeakMap $held;

    public function __construct(PDO|string $where)
    {
        $this->connection = $where instanceof PDO ? $where : new PDO($where);
        $this->save = $this->connection->prepare(
            'SELECT IF(IS_USED_LOCK(:n1) = CONNECTION_ID(), -1, GET_LOCK(:n2, 0))',
        );
        $this->delete = $this->connection->prepare('SELECT RELEASE_LOCK(:n)');
        $this->exists = $this->connection->prepare('SELECT IS_USED_LOCK(:n) = CONNECTION_ID()');
        $this->held = new WeakMap();
    }

    public function save(Key $key): void
    {
        $name = self::name($key);
        $answer = self::answer($this->save, ['n1' => $name, 'n2' => $name]);
        if ($answer === 1) {
            $this->held[$key] = true;
        } elseif ($answer === null) {
            throw new LockAcquiringException('The server failed.');
        } elseif (!isset($this->held[$key])) {
            throw new LockConflictedException();
        }
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        // These locks last as long as the connection.
    }

    public function delete(Key $key): void
    {
        self::answer($this->delete, ['n' => self::name($key)]);
        unset($this->held[$key]);
    }

    public function exists(Key $key): bool
    {
        return isset($this->held[$key]) && self::answer($this->exists, ['n' => self::name($key)]) === 1;
    }

    /** @param array<string, string> $parameters */
    private static function answer(PDOStatement $statement, array $parameters): ?int
    {
        $statement->execute($parameters);
        $answer = $statement->fetchColumn();
        $statement->closeCursor();

        return $answer;
    }

    private static function name(Key $key): string
    {
        return hash('sha256', (string) $key);
    }
}
