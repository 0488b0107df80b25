<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\LockFactory;
use PDO;

/**
 * An implementation that is measured. Latch and Symfony have the same classes under different namespaces; what
 * is said here of Latch's holds for Symfony's. Laravel's locks have the same face in LaravelLocks.
 */
enum Subject: string
{
    case Latch = 'latch';
    case Symfony = 'symfony';
    case Laravel = 'laravel';

    /** Those that have all stores and all methods. */
    public const ALIKE = [self::Latch, self::Symfony];

    /** @return list<self> those of them that have the store: shared memory is Latch's alone */
    public static function with(string $store): array
    {
        return $store === 'shm' ? [self::Latch] : self::ALIKE;
    }

    /**
     * @param list<self> $subjects
     *
     * @return array<string, self>
     */
    public static function byName(array $subjects = self::ALIKE): array
    {
        return array_column($subjects, null, 'value');
    }

    /**
     * @param string $store 'flock', 'semaphore', 'shm', 'memory', 'redis', 'redis object', 'postgresql', 'mysql',
     *     'table', or 'redis permits N': semaphores with so many permits
     * @param string|PDO                                                $where the folder of the lock files, the
     *     server's DSN, or a connection to it
     *
     * @return LockFactory|LaravelLocks|PermitLocks
     */
    public function locks(string $store, string|PDO $where): object
    {
        if ($this === self::Laravel) {
            return new LaravelLocks($store, (string) $where);
        }
        if (sscanf($store, 'redis permits %d', $permits) === 1) {
            $address = new RedisAddress((string) $where);

            return new PermitLocks($this, $this === self::Latch ? $address->dsn : $address->client(), $permits);
        }

        return match ($store) {
            'flock' => $this->factory('FlockStore', $where),
            'semaphore' => $this->factory('SemaphoreStore'),
            'shm' => $this->factory('SharedMemoryStore', getenv('LATCH_SHARED') . '/locks'),
            'memory' => $this->factory('InMemoryStore'),
            'redis' => $this->factory('RedisStore', match ($this) {
                self::Latch => $where,
                self::Symfony => (new RedisAddress($where))->client(),
            }),
            'redis object' => $this->factory('RedisStore', (new RedisAddress($where))->client()),
            'postgresql' => $this->factory('PostgreSqlStore', $where),
            'mysql' => $this->factory('MysqlStore', $where),
            'table' => $this->table('PdoStore', match ($this) {
                self::Latch => $where,
                self::Symfony => (new SqlAddress($where))->connect(),
            }),
        };
    }

    /**
     * Locks in a table.
     *
     * @param 'PdoStore'|'DoctrineDbalStore' $store
     * @param float|null $pruning the probability that expired rows are removed; null: the store's own
     *
     * @return LockFactory
     */
    public function table(string $store, string|object $where, ?float $pruning = null): object
    {
        return $this->factory($store, $where, [], ...$pruning === null ? [] : [$pruning]);
    }

    /**
     * Locks that a majority of Redis servers grants.
     *
     * @param list<RedisAddress> $members
     * @param float              $timeout seconds, to connect and for each answer
     *
     * @return LockFactory
     */
    public function quorum(array $members, float $timeout = 5.0): object
    {
        $stores = array_map(
            fn (RedisAddress $member): object => $this->make('Store\RedisStore', match ($this) {
                self::Latch => "$member->dsn?timeout=$timeout&read_timeout=$timeout",
                self::Symfony => $member->connect($timeout),
            }),
            $members,
        );

        return $this->factory('CombinedStore', $stores, $this->make('Strategy\ConsensusStrategy'));
    }

    /** @return LockFactory */
    private function factory(string $store, mixed ...$arguments): object
    {
        return $this->make('LockFactory', $this->make("Store\\$store", ...$arguments));
    }

    /** @param string $name of a class, behind the namespace */
    private function make(string $name, mixed ...$arguments): object
    {
        $namespace = 'Latch';
        if ($this === self::Symfony) {
            require_once getenv('LATCH_VENDOR') . '/autoload.php';
            $namespace = 'Symfony\Component\Lock';
        }
        $class = "$this->value $name" === 'symfony Store\MysqlStore'
            ? SymfonyMysqlStore::class
            : "$namespace\\$name";

        return new $class(...$arguments);
    }
}
