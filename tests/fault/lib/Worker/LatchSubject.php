<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\BlockingStoreInterface;
use Latch\Key;
use Latch\Lock;
use Latch\SharedLockStoreInterface;
use Latch\Store\CombinedStore;
use Latch\Store\FlockStore;
use Latch\Store\MysqlStore;
use Latch\Store\PostgreSqlStore;
use Latch\Store\RedisStore;
use Latch\Strategy\ConsensusStrategy;
use Latch\Tests\Fault\Record\Teller;

/**
 * The extension, in a folder, on a server or on several.
 */
final class LatchSubject implements Subject
{
    private const TRAITS = [
        'folder' => [],
        'redis' => [Teller::EXPIRING, Teller::FENCING, Teller::LATE_RELEASE, Teller::FIRST_COME],
        'quorum' => [Teller::EXPIRING, Teller::LATE_RELEASE, Teller::VOTES],
        'pgsql' => [Teller::SESSION, Teller::LATE_RELEASE, Teller::FIRST_COME],
        'mysql' => [Teller::SESSION, Teller::LATE_RELEASE, Teller::FIRST_COME, Teller::EXCLUSIVE_ONLY],
    ];

    private readonly string $kind;
    private SharedLockStoreInterface|BlockingStoreInterface|null $store = null;

    /**
     * @param string $where a folder, a DSN, or "quorum:" and several DSNs of Redis servers, separated by commas
     * @param bool   $byPdo whether the store is given a \PDO object
     * @param bool   $keeps whether locks are renewed in the background
     */
    public function __construct(
        private readonly string $where,
        private readonly bool $byPdo = false,
        private readonly bool $keeps = false,
    ) {
        $this->kind = str_contains($where, ':') ? (string) strstr($where, ':', true) : 'folder';
    }

    public function traits(): array
    {
        return [...self::TRAITS[$this->kind], ...match (true) {
            $this->byPdo => [Teller::ASKS_AGAIN],
            $this->keeps => [Teller::KEPT],
            \in_array(Teller::SESSION, self::TRAITS[$this->kind], true) => [Teller::NOTICES],
            default => [],
        }];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        $this->store ??= $this->open();

        $lock = new Lock(new Key($resource), $this->store, $ttl, $autoRelease);

        return new LatchHandle($this->keeps ? $lock->keepAlive() : $lock, $this->kind !== 'folder');
    }

    public function recover(): void
    {
        if ($this->byPdo) {
            $this->store = null;
        }
    }

    private function open(): SharedLockStoreInterface|BlockingStoreInterface
    {
        $where = $this->byPdo ? new \PDO($this->where) : $this->where;

        return match ($this->kind) {
            'folder' => new FlockStore($this->where),
            'redis' => new RedisStore($this->where),
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
}
