<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\LockFactory;
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
     * @param 'flock'|'semaphore'|'memory'|'redis' $store
     * @param string                               $where the folder of the lock files, or the server's DSN
     *
     * @return LockFactory
     */
    public function locks(string $store, string $where): object
    {
        return match ($store) {
            'flock' => $this->factory('FlockStore', $where),
            'semaphore' => $this->factory('SemaphoreStore'),
            'memory' => $this->factory('InMemoryStore'),
            'redis' => $this->factory('RedisStore', match ($this) {
                self::Latch => $where,
                self::Symfony => (new RedisAddress($where))->connect(),
            }),
        };
    }

    /** @return LockFactory */
    private function factory(string $store, string|PhpRedis ...$arguments): object
    {
        $namespace = 'Latch';
        if ($this === self::Symfony) {
            require_once getenv('LATCH_VENDOR') . '/autoload.php';
            $namespace = 'Symfony\Component\Lock';
        }
        $factoryClass = "$namespace\\LockFactory";
        $storeClass = "$namespace\\Store\\$store";

        return new $factoryClass(new $storeClass(...$arguments));
    }
}
