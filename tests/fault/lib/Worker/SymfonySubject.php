<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Tests\Fault\Record\Teller;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\Store\FlockStore;
use Symfony\Component\Lock\Store\PostgreSqlStore;
use Symfony\Component\Lock\Store\RedisStore;

/**
 * Symfony's component in PHP, in a folder, by phpredis or by PDO on a server.
 */
final class SymfonySubject implements Subject
{
    private const TRAITS = [
        'folder' => [],
        'redis' => [Teller::EXPIRING, Teller::TWO_STEPS],
        'pgsql' => [Teller::SESSION, Teller::FIRST_COME],
        'mysql' => [Teller::SESSION, Teller::EXCLUSIVE_ONLY],
    ];

    private readonly string $kind;
    private FlockStore|PostgreSqlStore|MysqlPeerStore|null $store = null;
    private ?\Redis $redis = null;

    /** @param string $where a folder, redis://USER:PASSWORD@HOST:PORT, or PDO's DSN */
    public function __construct(private readonly string $where)
    {
        $this->kind = str_contains($where, ':') ? (string) strstr($where, ':', true) : 'folder';
    }

    public function traits(): array
    {
        return self::TRAITS[$this->kind];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        return new SymfonyHandle(
            new Lock(new Key($resource), $this->store($ttl), $ttl, $autoRelease),
            Waiting::Endlessly,
        );
    }

    public function recover(): void
    {
        $this->redis = $this->store = null;
    }

    private function store(float $ttl): PersistingStoreInterface
    {
        return match ($this->kind) {
            'folder' => $this->store ??= new FlockStore($this->where),
            // Who is killed between save() and putOffExpiration() leaves a lock with the store's TTL.
            'redis' => new RedisStore($this->redis ??= $this->connect(), $ttl),
            'pgsql' => $this->store ??= new PostgreSqlStore(new \PDO($this->where)),
            'mysql' => $this->store ??= new MysqlPeerStore(new \PDO($this->where)),
            default => throw new \LogicException("No store at $this->kind"),
        };
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
