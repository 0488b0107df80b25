<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Tests\Fault\Record\Teller;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;
use Symfony\Component\Lock\Store\FlockStore;
use Symfony\Component\Lock\Store\RedisStore;

/**
 * Symfony's component in PHP, in a folder or by phpredis on a server.
 */
final class SymfonySubject implements Subject
{
    private ?FlockStore $flock = null;
    private ?\Redis $redis = null;

    /** @param string $where a folder, or redis://USER:PASSWORD@HOST:PORT */
    public function __construct(private readonly string $where)
    {
        if (!str_contains($where, ':')) {
            $this->flock = new FlockStore($where);
        }
    }

    public function traits(): array
    {
        return $this->flock !== null ? [] : [Teller::EXPIRING, Teller::TWO_STEPS];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        // Who is killed between save() and putOffExpiration() leaves a lock with the store's TTL.
        $store = $this->flock ?? new RedisStore($this->redis ??= $this->connect(), $ttl);
        $key = new Key($resource);

        return new SymfonyHandle(new Lock($key, $store, $ttl, $autoRelease), Waiting::Endlessly);
    }

    public function recover(): void
    {
        $this->redis = null;
    }

    private function connect(): \Redis
    {
        ['host' => $host, 'port' => $port, 'user' => $user, 'pass' => $password] = (array) parse_url($this->where)
            + ['host' => '', 'port' => 0, 'user' => '', 'pass' => ''];
        $redis = new \Redis();
        $redis->connect($host, $port, 5.0);
        $redis->auth([$user, $password]);
        // It would wait for a lost answer for 60 s.
        $redis->setOption(\Redis::OPT_READ_TIMEOUT, 5.0);

        return $redis;
    }
}
