<?php

declare(strict_types=1);

namespace Latch\Tests\Support\Redis;

use Latch\Tests\RedisServer;

/**
 * The server that the tests of one process share.
 */
final class Servers
{
    private static ?RedisServer $shared = null;

    /** It is up, and as it was when it was new. */
    public static function fresh(): RedisServer
    {
        self::running()->command('FLUSHALL');
        self::running()->command('SCRIPT', 'FLUSH');

        return self::running();
    }

    /** It is up, with what a test before has left. */
    public static function running(): RedisServer
    {
        self::$shared ??= new RedisServer();
        if (!self::$shared->runs()) {
            self::$shared->start();
        }

        return self::$shared;
    }
}
