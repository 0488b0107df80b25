<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Key;
use Latch\Lock;
use Latch\PersistingStoreInterface;
use Latch\Store\CombinedStore;
use Latch\Store\FlockStore;
use Latch\Store\MysqlStore;
use Latch\Store\PostgreSqlStore;
use Latch\Store\RedisStore;
use Latch\Store\RedisStringStore;
use Latch\Strategy\ConsensusStrategy;
use Latch\Tests\Fault\Record\Teller;

/**
 * The extension, in a folder, on a server or on several.
 */
final class LatchSubject implements Subject
{
    private const REDIS = [Teller::EXPIRING, Teller::FENCING, Teller::LATE_RELEASE, Teller::FIRST_COME];
    private const TRAITS = [
        'folder' => [Teller::GIVES_WAY],
        'redis' => self::REDIS,
        'rediss' => self::REDIS,
        'redis+string' => [...self::REDIS, Teller::EXCLUSIVE_ONLY],
        'quorum' => [Teller::EXPIRING, Teller::LATE_RELEASE, Teller::VOTES],
        'pgsql' => [Teller::SESSION, Teller::LATE_RELEASE, Teller::FIRST_COME],
        'mysql' => [Teller::SESSION, Teller::LATE_RELEASE, Teller::FIRST_COME, Teller::EXCLUSIVE_ONLY],
    ];

    /** So many owners all processes have together. */
    private const OWNERS = 3;

    /** Of the client object, in s, which would wait for ever. */
    private const CLUSTER_TIMEOUT = 2.0;

    private readonly string $kind;
    private PersistingStoreInterface|null $store = null;

    /**
     * @param string $where    a folder, a DSN, or "quorum:" and several DSNs of Redis servers, separated by commas
     * @param bool   $byObject whether the store is given a client object: \PDO, or \RedisCluster
     * @param bool   $keeps    whether locks are renewed in the background
     */
    public function __construct(
        private readonly string $where,
        private readonly bool $byObject = false,
        private readonly bool $keeps = false,
    ) {
        $this->kind = str_contains($where, ':') ? (string) strstr($where, ':', true) : 'folder';
    }

    public function traits(): array
    {
        if ($this->byObject && $this->kind === 'redis') {
            return [Teller::EXPIRING, Teller::FENCING];
        }

        $isCluster = str_contains($this->where, 'redis_cluster=1');

        return [...self::TRAITS[$this->kind], ...$isCluster ? [Teller::SCATTERED] : [], ...match (true) {
            $this->byObject => [Teller::ASKS_AGAIN],
            $this->keeps => [Teller::KEPT],
            \in_array(Teller::SESSION, self::TRAITS[$this->kind], true) => [Teller::NOTICES],
            default => [],
        }];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        $this->store ??= $this->open();

        $lock = new Lock($this->key($resource), $this->store, $ttl, $autoRelease);

        return new LatchHandle($this->keeps ? $lock->keepAlive() : $lock, $this->kind !== 'folder');
    }

    /** Of a lock that is a string the owner is mostly one that others have, too. */
    private function key(string $resource): Key
    {
        $number = $this->kind === 'redis+string' ? random_int(0, self::OWNERS) : 0;

        return $number === 0 ? new Key($resource) : RedisStringStore::key($resource, "owner $number\0");
    }

    public function recover(): void
    {
        if ($this->byObject) {
            $this->store = null;
        }
    }

    private function open(): PersistingStoreInterface
    {
        $where = match (true) {
            !$this->byObject => $this->where,
            $this->kind === 'redis' => $this->connectToCluster(),
            default => new \PDO($this->where),
        };

        return match ($this->kind) {
            'folder' => new FlockStore($this->where),
            'redis', 'rediss' => new RedisStore($where),
            'redis+string' => new RedisStringStore($where),
            'quorum' => new CombinedStore(array_map(
                static fn (string $dsn): RedisStore => new RedisStore("$dsn?" . http_build_query([
                    'timeout' => self::MEMBERS_TIMEOUT, 'read_timeout' => self::MEMBERS_TIMEOUT,
                ])),
                explode(',', substr($where, \strlen('quorum:'))),
            ), new ConsensusStrategy()),
            'pgsql' => new PostgreSqlStore($where),
            'mysql' => new MysqlStore($where),
            default => throw new \LogicException("No store at $this->kind"),
        };
    }

    private function connectToCluster(): \RedisCluster
    {
        preg_match_all('/127\.0\.0\.1:\d+/', $this->where, $match);

        return new \RedisCluster(null, $match[0], self::CLUSTER_TIMEOUT, self::CLUSTER_TIMEOUT);
    }
}
