<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Tests\RedisClusterServers;

/**
 * The same in a Redis Cluster: ours by a DSN, Symfony's by a \RedisCluster or Predis.
 */
final class RedisClusterPeersTest extends RedisPeersTest
{
    private static ?RedisClusterServers $cluster = null;

    protected function setUp(): void
    {
        require_once __DIR__ . '/../../utils/redis_cluster.inc';
        self::$cluster ??= new RedisClusterServers();
        self::$cluster->flush();
        foreach (self::$cluster->masters as $master) {
            $master->command('SCRIPT', 'FLUSH');
        }
        $this->place = array_column(self::$cluster->masters, 'port');
        $this->server = self::$cluster->masterOf('r');
    }

    public static function tearDownAfterClass(): void
    {
        self::$cluster = null;
    }
}
