<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\LockFactory;

/**
 * An implementation that is measured. Both have the same classes under different namespaces; what
 * is said here of Latch's holds for Symfony's.
 */
enum Subject: string
{
    case Latch = 'latch';
    case Symfony = 'symfony';

    /** @return LockFactory on files in the folder */
    public function flock(string $folder): object
    {
        return $this->factory('FlockStore', $folder);
    }

    /** @return LockFactory */
    public function memory(): object
    {
        return $this->factory('InMemoryStore');
    }

    /** @return LockFactory */
    private function factory(string $store, string ...$arguments): object
    {
        $namespace = 'Latch';
        if ($this === self::Symfony) {
            require_once getenv('LATCH_SYMFONY') . '/vendor/autoload.php';
            $namespace = 'Symfony\Component\Lock';
        }
        $factoryClass = "$namespace\\LockFactory";
        $storeClass = "$namespace\\Store\\$store";

        return new $factoryClass(new $storeClass(...$arguments));
    }
}
