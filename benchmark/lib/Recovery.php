<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\RedisServer;

require_once __DIR__ . '/../../tests/utils/redis.inc';

/**
 * The measurements of `benchmark/run recovery`: holders that are killed, and who has their locks next.
 *
 * Collects the raw numbers; what they come to is RecoveryReport's business.
 */
final class Recovery
{
    /** In seconds; the locks of the other stores have none, and end with their process. */
    private const TTLS = ['redis' => [1, 5, 30], 'flock' => [0], 'semaphore' => [0], 'shm' => [0]];

    private readonly Programs $programs;
    /** @var list<string> */
    private readonly array $stores;

    /**
     * @param int          $holders that are killed, for each TTL
     * @param list<string> $stores  all when there are none
     */
    public function __construct(
        private readonly int $holders,
        private readonly string $folder,
        array $stores,
    ) {
        $this->programs = new Programs('posix', 'igbinary', 'redis');
        $this->stores = array_values(array_intersect(array_keys(self::TTLS), $stores)) ?: array_keys(self::TTLS);
    }

    /** @return array<string, string> what is used besides, and its version */
    public function software(): array
    {
        return in_array('redis', $this->stores, true)
            ? ['redis-server' => (new RedisServer())->info('server')['redis_version']]
            : [];
    }

    /** @return array<string, mixed> */
    public function measure(): array
    {
        $measured = ['holders' => $this->holders];
        foreach ($this->stores as $store) {
            foreach (self::TTLS[$store] as $ttl) {
                Command::say("$store, holders are killed" . ($ttl > 0 ? ", TTL $ttl s" : ''));
                $server = $store === 'redis' ? new RedisServer() : null;
                $where = $server?->dsn() ?? $this->folder;
                $measured['stores'][$store][$ttl]
                    = $this->programs->part('recovery', false, $store, $where, $ttl, $this->holders);
            }
        }

        return $measured;
    }
}
