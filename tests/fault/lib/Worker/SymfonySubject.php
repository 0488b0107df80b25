<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Tests\Fault\Record\Teller;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\Store\CombinedStore;
use Symfony\Component\Lock\Store\FlockStore;
use Symfony\Component\Lock\Store\PostgreSqlStore;
use Symfony\Component\Lock\Store\RedisStore;
use Symfony\Component\Lock\Strategy\ConsensusStrategy;

/**
 * Symfony's component in PHP, in a folder, by phpredis or by PDO on a server, or on several.
 */
final class SymfonySubject implements Subject
{
    private const TRAITS = [
        'folder' => [],
        'redis' => [Teller::EXPIRING, Teller::TWO_STEPS],
        'quorum' => [Teller::EXPIRING, Teller::TWO_STEPS, Teller::VOTES],
        'pgsql' => [Teller::SESSION, Teller::FIRST_COME],
        'mysql' => [Teller::SESSION, Teller::EXCLUSIVE_ONLY],
    ];

    /** It would wait for a lost answer for 60 s. */
    private const TIMEOUT = 5.0;

    private readonly string $kind;
    private FlockStore|PostgreSqlStore|MysqlPeerStore|null $store = null;
    private ?\Redis $redis = null;
    /** @var list<SymfonyMember> */
    private readonly array $members;

    /**
     * @param string $where a folder, redis://USER:PASSWORD@HOST:PORT, PDO's DSN, or "quorum:" and several of the
     *                      first kind, separated by commas
     */
    public function __construct(private readonly string $where)
    {
        $this->kind = str_contains($where, ':') ? (string) strstr($where, ':', true) : 'folder';
        $this->members = $this->kind !== 'quorum' ? [] : array_map(
            static fn (string $dsn): SymfonyMember => new SymfonyMember($dsn, self::MEMBERS_TIMEOUT),
            explode(',', substr($where, \strlen('quorum:'))),
        );
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
            // A process that is killed between save() and putOffExpiration() leaves a lock with the store's TTL.
            'redis' => new RedisStore($this->redis ??= SymfonyMember::connect($this->where, self::TIMEOUT), $ttl),
            'quorum' => $this->quorum($ttl),
            'pgsql' => $this->store ??= new PostgreSqlStore(new \PDO($this->where)),
            'mysql' => $this->store ??= new MysqlPeerStore(new \PDO($this->where)),
            default => throw new \LogicException("No store at $this->kind"),
        };
    }

    private function quorum(float $ttl): CombinedStore
    {
        foreach ($this->members as $member) {
            $member->ttl = $ttl;
        }

        return new CombinedStore($this->members, new ConsensusStrategy());
    }
}
