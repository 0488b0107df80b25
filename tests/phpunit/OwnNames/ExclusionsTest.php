<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames;

use Latch\Key;
use Latch\Lock;
use Latch\Store\MysqlStore;
use Latch\Store\PostgreSqlStore;
use Latch\Store\RedisStore;
use Latch\Tests\MySqlServer;
use Latch\Tests\RedisServer;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\PostgreSql;
use Latch\Tests\Support\TestCase;

/**
 * What docs/stores.md says of programs that are not written for Symfony's Lock: which of them Latch excludes, and under
 * which names.
 */
final class ExclusionsTest extends TestCase
{
    public function testLaravelsLocksInRedis(): void
    {
        $server = new RedisServer();
        // With prefixes as in Laravel's own configuration.
        $key = 'laravel-database-laravel-cache-invoice-42';
        $lock = new Lock(new Key('invoice-42'), new RedisStore($server->dsn('?prefix=laravel-database-laravel-cache-')), 30);

        self::assertTrue($lock->acquire());
        self::assertSame('refused', $this->laravel($server));
        self::assertTrue($lock->isAcquired());
        $lock->release();
        self::assertSame('granted', $this->laravel($server));
        self::assertSame('string', $server->command('TYPE', $key));
        self::assertFalse($lock->acquire());
        $server->command('DEL', $key);
        self::assertTrue($lock->acquire());
        $lock->release();
    }

    /** What Cache::lock('invoice-42')->get() says in a process without Latch. */
    private function laravel(RedisServer $server): string
    {
        $vendor = getenv('LATCH_LARAVEL');
        self::assertNotFalse($vendor, 'LATCH_LARAVEL must name the vendor folder with Laravel.');
        $program = str_replace(['VENDOR', 'PORT'], [$vendor, (string) $server->port], <<<'PHP'
            require 'VENDOR/autoload.php';
            $options = ['host' => '127.0.0.1', 'port' => PORT, 'prefix' => 'laravel-database-'];
            $redis = new Illuminate\Redis\RedisManager(new Illuminate\Container\Container(), 'phpredis', ['default' => $options]);
            $store = new Illuminate\Cache\RedisStore($redis, 'laravel-cache-', 'default');
            echo (new Illuminate\Cache\Repository($store))->lock('invoice-42', 30)->get() ? 'granted' : 'refused';
            PHP);
        $process = proc_open([...Peer::php(), '-r', $program], [1 => ['pipe', 'w']], $pipes);
        self::assertIsResource($process);
        $said = (string) stream_get_contents($pipes[1]);
        self::assertSame(0, proc_close($process), $said);

        return $said;
    }

    public function testCodeThatSetsAKeyUnlessItIsThere(): void
    {
        $server = new RedisServer();
        $lock = new Lock(new Key('invoice-42'), new RedisStore($server->dsn()), 30);

        self::assertTrue($lock->acquire());
        self::assertNull($server->command('SET', 'invoice-42', 'theirs', 'NX', 'PX', 30_000));
        $lock->release();
        self::assertSame('OK', $server->command('SET', 'invoice-42', 'theirs', 'NX', 'PX', 30_000));
        self::assertFalse($lock->acquire());
        self::assertSame('theirs', $server->command('GET', 'invoice-42'));
    }

    public function testNamedLocksOfMySqlAreExcludedByTheirDigest(): void
    {
        $server = new MySqlServer();
        $lock = new Lock(new Key('invoice-42'), new MysqlStore($server->dsn()));
        $session = $server->session();

        self::assertTrue($lock->acquire());
        self::assertSame('1', $session->value("SELECT GET_LOCK('invoice-42', 0)"));
        self::assertSame('0', $session->value("SELECT GET_LOCK(SHA2('invoice-42', 256), 0)"));
        $lock->release();
        self::assertSame('1', $session->value("SELECT GET_LOCK(SHA2('invoice-42', 256), 0)"));
        self::assertFalse($lock->acquire());
    }

    public function testAdvisoryLocksOfPostgreSqlAreExcludedByTheirNumber(): void
    {
        $server = PostgreSql::server();
        $lock = new Lock(new Key('invoice-42'), new PostgreSqlStore($server->dsn()));
        $session = $server->session();
        $number = crc32('invoice-42');

        self::assertTrue($lock->acquire());
        self::assertSame('f', $session->value("SELECT pg_try_advisory_lock($number)"));
        $lock->release();
        self::assertSame('t', $session->value("SELECT pg_try_advisory_lock($number)"));
        self::assertFalse($lock->acquire());
        $session->value("SELECT pg_advisory_unlock($number)");
    }
}
