<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\LockFactory;
use PDO;
use Redis as PhpRedis;

/**
 * An implementation that is measured. Both have the same classes under different namespaces; what
 * is said here of Latch's holds for Symfony's.
 */
enum Subject: string
{
    case Latch = 'latch';
    case Symfony = 'symfony';

    /** @return array<string, self> */
    public static function byName(): array
    {
        return array_column(self::cases(), null, 'value');
    }

    /**
     * @param 'flock'|'semaphore'|'memory'|'redis'|'postgresql'|'mysql' $store
     * @param string|PDO                                                $where the folder of the lock files, the
     *     server's DSN, or a connection to it
     *
     * @return LockFactory
     */
    public function locks(string $store, string|PDO $where): object
    {
        return match ($store) {
            'flock' => $this->factory('FlockStore', $where),
            'semaphore' => $this->factory('SemaphoreStore'),
            'memory' => $this->factory('InMemoryStore'),
            'redis' => $this->factory('RedisStore', match ($this) {
                self::Latch => $where,
                self::Symfony => (new RedisAddress($where))->connect(),
            }),
            'postgresql' => $this->factory('PostgreSqlStore', $where),
            'mysql' => $this->factory('MysqlStore', $where),
        };
    }

    /** @return LockFactory */
    private function factory(string $store, string|PDO|PhpRedis ...$arguments): object
    {
        $namespace = 'Latch';
        if ($this === self::Symfony) {
            require_once getenv('LATCH_VENDOR') . '/autoload.php';
            $namespace = 'Symfony\Component\Lock';
        }
        $factoryClass = "$namespace\\LockFactory";
        $storeClass = "$namespace\\Store\\$store";
        if ("$this->value $store" === 'symfony MysqlStore') {
            $storeClass = SymfonyMysqlStore::class;
        }

        return new $factoryClass(new $storeClass(...$arguments));
    }
}
