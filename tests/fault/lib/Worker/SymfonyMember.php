<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\SharedLockStoreInterface;
use Symfony\Component\Lock\Store\RedisStore;

/**
 * Symfony's store on a server that is connected when it is needed, so that its death can be survived.
 */
final class SymfonyMember implements SharedLockStoreInterface
{
    /** Of what is taken next, in s. */
    public float $ttl = 300.0;

    private ?\Redis $redis = null;

    /**
     * @param string $dsn     redis://USER:PASSWORD@HOST:PORT
     * @param float  $timeout to connect, and for each answer, in s
     */
    public function __construct(private readonly string $dsn, private readonly float $timeout)
    {
    }

    public static function connect(string $dsn, float $timeout): \Redis
    {
        ['host' => $host, 'port' => $port, 'user' => $user, 'pass' => $password] = (array) parse_url($dsn)
            + ['host' => '', 'port' => 0, 'user' => '', 'pass' => ''];
        $redis = new \Redis();
        $redis->connect($host, $port, $timeout, null, 0, $timeout);
        $redis->auth([$user, $password]);

        return $redis;
    }

    public function save(Key $key): void
    {
        $this->ask(static fn (RedisStore $store) => $store->save($key));
    }

    public function saveRead(Key $key): void
    {
        $this->ask(static fn (RedisStore $store) => $store->saveRead($key));
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        $this->ask(static fn (RedisStore $store) => $store->putOffExpiration($key, $ttl));
    }

    public function delete(Key $key): void
    {
        $this->ask(static fn (RedisStore $store) => $store->delete($key));
    }

    public function exists(Key $key): bool
    {
        return (bool) $this->ask(static fn (RedisStore $store): bool => $store->exists($key));
    }

    /** @param \Closure(RedisStore): mixed $what */
    private function ask(\Closure $what): mixed
    {
        try {
            $this->redis ??= self::connect($this->dsn, $this->timeout);

            return $what(new RedisStore($this->redis, $this->ttl));
        } catch (LockConflictedException $e) {
            throw $e;
        } catch (\Exception $e) {
            $this->redis = null;
            throw $e;
        }
    }
}
