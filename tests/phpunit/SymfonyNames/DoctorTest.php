<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyNames;

use Latch\Tests\MemcachedServer;
use Latch\Tests\RedisServer;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\PostgreSql;
use Latch\Tests\Support\TestCase;

/**
 * What "latch doctor" says of stores that Composer's classes serve, in an application that has them.
 */
final class DoctorTest extends TestCase
{
    public function testComposersStoresAreAskedAndToldApart(): void
    {
        $redis = new RedisServer();
        $memcached = new MemcachedServer();
        $port = PostgreSql::server()->port;
        $own = "redis://127.0.0.1:$redis->port";
        $table = PostgreSql::dsn($port, 'pgsql');

        $report = $this->report([$own, "$own?what_only_others_know=1", "memcached://127.0.0.1:$memcached->port", $table], 0);
        self::assertStringContainsString("ok       $own: Symfony\\Component\\Lock\\Store\\RedisStore (native) locks, Redis ", $report);
        self::assertStringContainsString("ok       $own: Symfony\\Component\\Lock\\Store\\RedisStore (native) locks: ", $report);
        self::assertMatchesRegularExpression("~^note     $own: not on Latch's own connection, but on a client of symfony/cache: .*what_only_~m", $report);
        self::assertStringContainsString('Symfony\Component\Lock\Store\MemcachedStore (Composer\'s) answers: ', $report);
        self::assertStringContainsString('PdoStore (native) answers, PostgreSQL ', $report);
        self::assertStringContainsString('has no table lock_keys yet: the first lock creates it', $report);
        self::assertStringNotContainsString(\Latch\Tests\PostgreSqlServer::PASSWORD, $report);
        self::assertSame('0', PostgreSql::server()->value("SELECT count(to_regclass('lock_keys'))"));

        $report = $this->report([str_replace('never-told', 'wrong', $table)], 1);
        self::assertMatchesRegularExpression('/^fault    pgsql:.* no lock can be acquired: .*authentication failed/m', $report);
        self::assertStringContainsString('do: correct user and password in the DSN', $report);
        self::assertStringNotContainsString('wrong-8642', $report);
    }

    /** @param list<string> $dsns */
    private function report(array $dsns, int $exitCode): string
    {
        $command = [...Peer::php(Peer::extension()), \dirname(__DIR__, 3) . '/bin/latch', 'doctor',
            '--vendor=' . getenv('LATCH_VENDOR'), ...array_map(static fn (string $dsn): string => "--store=$dsn", $dsns)];
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes);
        self::assertNotFalse($process);
        $report = (string) stream_get_contents($pipes[1]);
        self::assertSame($exitCode, proc_close($process), $report);

        return $report;
    }
}
