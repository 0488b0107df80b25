<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Illuminate\Cache\FileStore;
use Illuminate\Cache\RedisStore;
use Illuminate\Container\Container;
use Illuminate\Contracts\Cache\LockProvider;
use Illuminate\Filesystem\Filesystem;
use Illuminate\Redis\RedisManager;

/**
 * Laravel's cache locks (Cache::lock()), with the methods that the benchmarks call.
 */
final class LaravelLocks
{
    private readonly LockProvider $store;

    /**
     * @param string $store 'redis', by phpredis as in Laravel's own configuration, or 'flock': the file store
     * @param string $where the server's DSN, or the folder of the files
     */
    public function __construct(string $store, string $where)
    {
        require_once getenv('LATCH_LARAVEL') . '/autoload.php';
        $this->store = match ($store) {
            'redis' => new RedisStore($this->redis(...(new RedisAddress($where))->parts()), '', 'default'),
            'flock' => new FileStore(new Filesystem(), "$where/laravel"),
        };
    }

    public function createLock(string $resource, float $ttl = 300.0): LaravelLock
    {
        return new LaravelLock($this->store->lock($resource, (int) $ttl));
    }

    private function redis(string $host, string $port): RedisManager
    {
        return new RedisManager(new Container(), 'phpredis', ['default' => ['host' => $host, 'port' => $port]]);
    }
}
