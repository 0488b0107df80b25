<?php

declare(strict_types=1);

namespace Latch\Tests\Support\Redis;

use Latch\Semaphore\PersistingStoreInterface as SemaphoreStore;
use Latch\Semaphore\Store\RedisStore as SemaphoreRedisStore;
use Latch\SharedLockStoreInterface;
use Latch\Store\CombinedStore;
use Latch\Store\RedisStore;
use Latch\Strategy\ConsensusStrategy;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\Wait;

/**
 * Redis as a process of the tests uses it: stores of the classes under test, and what the server itself
 * says about locks.
 */
final class Client
{
    /** The name by which a key knows its token, in all modes. */
    public const STATE = Subject::SYMFONY . 'Store\RedisStore';

    public static function connect(int $port): \Redis
    {
        $redis = new \Redis();
        $redis->connect('127.0.0.1', $port, 5.0, null, 0, Wait::LIMIT);

        return $redis;
    }

    /**
     * A store on that server, or in a cluster. Latch's takes a DSN, Symfony's a client.
     *
     * @param int|list<int> $place  a port, or those of a cluster
     * @param string        $client of Symfony's: phpredis or predis
     */
    public static function store(
        int|array $place,
        float $initialTtl = 300.0,
        string $client = 'phpredis',
    ): SharedLockStoreInterface {
        $server = match (true) {
            Subject::mode() === 'oracle' => self::client($place, $client),
            \is_array($place) => 'redis:?redis_cluster=1&host[' . implode(']&host[', self::addresses($place)) . ']',
            default => "redis://127.0.0.1:$place",
        };

        return new RedisStore($server, $initialTtl);
    }

    /**
     * The same of semaphores; Symfony's on a client.
     */
    public static function semaphores(int $port, string $client = 'phpredis'): SemaphoreStore
    {
        $isPure = Subject::mode() === 'oracle';

        return new SemaphoreRedisStore($isPure ? self::client($port, $client) : "redis://127.0.0.1:$port");
    }

    /**
     * @param int|list<int> $place
     */
    private static function client(int|array $place, string $kind): object
    {
        if (\is_array($place)) {
            return $kind === 'predis'
                ? new \Predis\Client(self::addresses($place), ['cluster' => 'redis'])
                : new \RedisCluster(null, self::addresses($place), 5.0, Wait::LIMIT);
        }

        return $kind === 'predis' ? new \Predis\Client("tcp://127.0.0.1:$place") : self::connect($place);
    }

    /**
     * @param list<int> $ports
     *
     * @return list<string>
     */
    private static function addresses(array $ports): array
    {
        return array_map(static fn (int $port): string => "127.0.0.1:$port", $ports);
    }

    /**
     * A store on most of those servers.
     *
     * @param list<int> $ports
     */
    public static function combine(array $ports, float $initialTtl = 300.0): CombinedStore
    {
        $stores = array_map(static fn (int $port) => self::store($port, $initialTtl), $ports);

        return new CombinedStore($stores, new ConsensusStrategy());
    }

    /**
     * How many scripts of stores the server has run on a lock that is held: each of them asks for its TYPE.
     */
    public static function scripts(\Redis $redis): int
    {
        $statistics = $redis->info('commandstats')['cmdstat_type'] ?? '';

        return preg_match('/^calls=(\d+)/', $statistics, $match) === 1 ? (int) $match[1] : 0;
    }

    /**
     * Has the peer release its lock when a waiter has asked for it twice from now on. A count that begins later, in the
     * peer, may miss both requests, and the next one comes after a minute.
     *
     * @param float $seconds the least time that has to go by
     */
    public static function askToReleaseWhenAsked(Peer $peer, string $name, int $port, float $seconds = 0.0): void
    {
        $peer->ask('release when asked', $name, $port, 2, $seconds, self::scripts(self::connect($port)));
    }

    /**
     * Waits until somebody else has asked for a lock so many times. When the lock was held all the time,
     * he waits for it.
     *
     * @param float    $seconds  the least time that has to go by
     * @param int|null $scripts  since when: scripts(); null: from now on
     */
    public static function untilAsked(int $port, int $times = 1, float $seconds = 0.0, ?int $scripts = null): void
    {
        $redis = self::connect($port);
        $scripts ??= self::scripts($redis);
        $end = hrtime(true) + (int) ($seconds * 1e9);
        Wait::until(
            static fn (): bool => hrtime(true) >= $end && self::scripts($redis) >= $scripts + $times,
            'somebody asks for the lock',
        );
    }
}
