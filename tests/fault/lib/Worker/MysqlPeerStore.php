<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\PersistingStoreInterface;

/**
 * Locks by the names and the statements of Symfony's MysqlStore (8.2), which needs a newer PHP.
 */
final class MysqlPeerStore implements PersistingStoreInterface
{
    /** @param bool $knowsItsOwn whether a lock that its session holds already is refused */
    public function __construct(private readonly \PDO $pdo, private readonly bool $knowsItsOwn = true)
    {
    }

    public function save(Key $key): void
    {
        if ($key->hasState(self::class)) {
            return;
        }
        [$sql, $count] = $this->knowsItsOwn
            ? ['SELECT IF(IS_USED_LOCK(?) = CONNECTION_ID(), -1, GET_LOCK(?, 0))', 2]
            : ['SELECT GET_LOCK(?, 0)', 1];
        if ($this->ask($sql, ...array_fill(0, $count, self::name($key))) !== 1) {
            throw new LockConflictedException();
        }
        $key->setState(self::class, true);
        $key->markUnserializable();
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        if (!$this->exists($key)) {
            throw new LockConflictedException();
        }
    }

    public function delete(Key $key): void
    {
        if ($key->hasState(self::class)) {
            $this->ask('SELECT RELEASE_LOCK(?)', self::name($key));
            $key->removeState(self::class);
        }
    }

    public function exists(Key $key): bool
    {
        return $key->hasState(self::class)
            && $this->ask('SELECT IS_USED_LOCK(?) = CONNECTION_ID()', self::name($key)) === 1;
    }

    private static function name(Key $key): string
    {
        return hash('sha256', (string) $key);
    }

    private function ask(string $sql, string ...$values): ?int
    {
        $statement = $this->pdo->prepare($sql);
        $statement->execute($values);
        $value = $statement->fetchColumn();

        return is_numeric($value) ? (int) $value : null;
    }
}
