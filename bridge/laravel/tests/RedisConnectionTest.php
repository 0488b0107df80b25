<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use Latch\Laravel\Tests\Support\Process;
use Latch\Tests\Certificates;
use Latch\Tests\RedisClusterServers;
use Latch\Tests\RedisServer;
use Latch\Tests\RedisTls;
use Latch\Tests\RedisTrio;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * By which way locks of a Redis connection are Latch's. Processes with and without it exclude each other there.
 */
final class RedisConnectionTest extends LaravelTestCase
{
    private const SECRET = 'p@ss w/?#&:%';

    /** Reason and DSN of the connection, what its lock is, and what dumps and traces show. */
    private const ABOUT = <<<'PHP'
        $natives = $app->make(Latch\Laravel\Redis\NativeStores::class);
        $connection = $app->make('redis')->connection('default');
        $lock = Cache::lock('about', 10);
        ob_start();
        var_dump($lock, $natives);
        print_r($lock);
        return ['whyNot' => $natives->whyNot($connection), 'dsn' => $natives->dsn($connection), 'class' => class_basename($lock),
            'isNative' => str_starts_with($lock::class, 'Latch'), 'dump' => ob_get_clean()];
        PHP;

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAServerIsKnownFromTheClient(string $client): void
    {
        $server = new RedisServer(['requirepass' => self::SECRET]);
        $about = self::check(self::application($client, [
            'host' => '127.0.0.1', 'port' => $server->port, 'password' => self::SECRET, 'database' => 3, 'timeout' => 2.5,
        ], ['prefix' => 'shop &:']));

        self::assertSame("redis://127.0.0.1:$server->port?timeout=2.5&dbindex=3&prefix=shop%20%26%3A", self::sorted($about['dsn']));
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAUserLogsIn(string $client): void
    {
        $server = new RedisServer();
        $server->setUser('shop@home', 'on', '>' . self::SECRET, '~*', '&*', '+@all');
        $server->setUser('default', 'off');
        self::check(self::application($client, [
            'host' => '127.0.0.1', 'port' => $server->port, 'username' => 'shop@home', 'password' => self::SECRET,
        ]));
        // Which is for others to see, as the test cannot log in any more.
        $server->stop();
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testASocket(string $client): void
    {
        $server = new RedisServer();
        $socket = "$server->directory/redis.sock";
        $about = self::check(self::application($client, $client === 'predis'
            ? ['scheme' => 'unix', 'path' => $socket]
            : ['host' => $socket, 'port' => 0]));

        self::assertStringStartsWith("redis:?host[$socket:]", $about['dsn']);
    }

    #[TestWith(['phpredis', ['context' => ['stream' => ['cafile' => '@ca.crt', 'verify_peer_name' => false]]]])]
    #[TestWith(['predis', ['ssl' => ['cafile' => '@ca.crt', 'verify_peer' => true]]])]
    public function testTls(string $client, array $context): void
    {
        $server = new RedisServer();
        $tls = new RedisTls($server);
        $about = self::check(self::application($client, ['scheme' => 'tls', 'host' => '127.0.0.1', 'port' => $tls->port]
            + self::inFolder($tls->directory, $context)));

        self::assertStringStartsWith("rediss://127.0.0.1:$tls->port", $about['dsn']);
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testACluster(string $client): void
    {
        $servers = new RedisClusterServers(3, options: ['requirepass' => self::SECRET]);
        $seeds = array_map(static fn (RedisServer $server): array => [
            'host' => '127.0.0.1', 'port' => $server->port, 'password' => self::SECRET,
        ], $servers->masters);
        $application = new Application(Driver::PhpRedis);
        $application->configure('database', ['redis' => [
            'client' => $client,
            'options' => ['cluster' => 'redis', 'prefix' => 'shop:', 'password' => self::SECRET],
            'clusters' => ['default' => $seeds],
        ]]);
        $about = self::check($application, 12);

        self::assertStringContainsString("host[127.0.0.1:{$servers->masters[1]->port}]", $about['dsn']);
        self::assertStringContainsString('redis_cluster=1', $about['dsn']);
    }

    /** By the options of TLS alone, as phpredis does it. */
    public function testAClusterWithTls(): void
    {
        $certificates = new Certificates();
        $servers = new RedisClusterServers(3, options: $certificates->options());
        $application = new Application(Driver::PhpRedis);
        $application->configure('database', ['redis' => [
            'client' => 'phpredis',
            'options' => ['prefix' => 'shop:', 'context' => ['cafile' => "$certificates->directory/ca.crt"]],
            'clusters' => ['default' => array_map(
                static fn (RedisServer $server): array => ['host' => '127.0.0.1', 'port' => $server->port],
                $servers->masters,
            )],
        ]]);

        self::assertStringStartsWith('rediss:', self::check($application, 3)['dsn']);
    }

    public function testAMasterThatSentinelsKnow(): void
    {
        $secret = 's3cret/?&%@'; // Which sentinel.conf can have.
        $trio = new RedisTrio(['requirepass' => $secret]);
        $application = new Application(Driver::PhpRedis);
        $application->configure('database', ['redis' => ['client' => 'predis', 'default' => [
            ...array_map(static fn (RedisServer $sentinel): string => "tcp://127.0.0.1:$sentinel->port?timeout=2", $trio->sentinels),
            'options' => ['replication' => 'sentinel', 'service' => RedisTrio::MASTER, 'prefix' => 'shop:',
                'parameters' => ['password' => $secret, 'database' => 2]],
        ]]]);
        $about = self::check($application);
        self::assertNoSecret($about, $application, $secret);

        self::assertStringContainsString('sentinel=' . RedisTrio::MASTER, $about['dsn']);
        self::assertStringContainsString('dbindex=2', $about['dsn']);
    }

    /** Database and prefix are the connection's, so that processes without Latch are on the same keys. */
    public function testAnApplicationNamesTheServer(): void
    {
        $server = new RedisServer(['requirepass' => self::SECRET]);
        $application = self::application('phpredis', [
            'host' => 'localhost', 'port' => $server->port, 'password' => self::SECRET, 'database' => 5,
        ], ['prefix' => 'shop:']);
        $application->configure('latch', ['connections' => [
            'default' => $server->dsn('?auth=' . rawurlencode(self::SECRET) . '&timeout=3'),
        ]]);
        $about = self::check($application);

        self::assertSame("redis://127.0.0.1:$server->port?timeout=3&dbindex=5&prefix=shop%3A", self::sorted($about['dsn']));
    }

    /** What it is connected to is for its client to know. */
    #[TestWith(['extend("phpredis", fn () => new Illuminate\Redis\Connectors\PhpRedisConnector())', 'phpredis'])]
    #[TestWith(['extend("phpredis", fn () => new class extends Illuminate\Redis\Connectors\PhpRedisConnector {})', 'phpredis'])]
    #[TestWith(['extend("predis", fn () => new Illuminate\Redis\Connectors\PredisConnector())', 'predis'])]
    public function testAConnectionOfAnotherDriverIsUsedByItsClient(string $extend, string $client): void
    {
        $server = new RedisServer();
        $application = self::application($client, ['host' => '127.0.0.1', 'port' => $server->port]);
        [$ours, $stock] = [$application->start(), $application->startStock()];
        $ours->php("\$app->make('redis')->$extend;");
        $about = $ours->php(self::ABOUT);

        self::assertNull($about['whyNot']);
        self::assertNull($about['dsn']);
        self::assertTrue($about['isNative']);
        self::exclude($ours, $stock);
    }

    /** Latch compares no fingerprints. */
    public function testALockStaysLaravelsWhoseServerLatchRefuses(): void
    {
        $tls = new RedisTls(new RedisServer());
        $application = self::application('predis', ['scheme' => 'tls', 'host' => '127.0.0.1', 'port' => $tls->port,
            'ssl' => ['cafile' => "$tls->directory/ca.crt", 'peer_fingerprint' => self::SECRET]]);
        $process = $application->start();
        $about = $process->php(self::ABOUT);
        $process->php(self::ABOUT);

        self::assertFalse($about['isNative']);
        self::assertNull($about['dsn']);
        self::assertStringContainsString('the option "ssl"', $about['whyNot']);
        self::assertSame(1, substr_count($application->log(), "locks of the Redis connection \"default\" are Laravel's own"));
        self::assertNoSecret([$about['whyNot'], $about['dsn']], $application);
    }

    /** As a package for tenants changes the prefix of a connection, and an application its database. */
    public function testAChangedPrefixOrDatabaseIsFollowed(): void
    {
        $server = new RedisServer();
        $process = self::application('phpredis', ['host' => '127.0.0.1', 'port' => $server->port])->start();
        $process->php(<<<'PHP'
            $take = fn (string $name) => Cache::lock($name, 30)->get() || throw new Exception($name);
            $client = $app->make('redis')->connection('default')->client();
            foreach (['one:', 'two:'] as $prefix) {
                $client->setOption(Redis::OPT_PREFIX, $prefix);
                $take('a');
            }
            Cache::setPrefix('three:');
            $take('a');
            $client->select(4);
            $take('a');
            PHP);
        $keys = static fn (): array => array_filter($server->command('KEYS', '*:*'), static fn (string $key): bool => !str_contains($key, 'latch:'));
        $first = $keys();
        $server->command('SELECT', 4);

        self::assertCount(3, $first, implode(' ', $first));
        self::assertContains('two:three:a', $first);
        self::assertSame(['two:three:a'], array_values($keys()));
    }

    /** A lost connection is replaced by another client. */
    public function testOneConnectionServesAllLocks(): void
    {
        $server = new RedisServer();
        $process = self::application('phpredis', ['host' => '127.0.0.1', 'port' => $server->port])->start();
        [$before, $after] = $process->php(<<<'PHP'
            $lock = fn () => array_map(fn ($i) => Cache::lock("a$i", 10)->get(fn () => 1), range(1, 500));
            $lock();
            gc_collect_cycles();
            $before = memory_get_usage();
            $lock();
            $app->make('redis')->purge('default');
            $lock();
            gc_collect_cycles();
            return [$before, memory_get_usage()];
            PHP);

        self::assertLessThan(20_000, $after - $before);
        self::assertLessThanOrEqual(2, \count($server->clients()));
    }

    #[TestWith(['phpredis', 'RedisException'])]
    #[TestWith(['predis', 'Predis\Connection\ConnectionException'])]
    public function testErrorsAreThoseOfTheClientAndShowNoPassword(string $client, string $class): void
    {
        $server = new RedisServer(['requirepass' => self::SECRET]);
        $application = self::application($client, ['host' => '127.0.0.1', 'port' => $server->port, 'password' => self::SECRET]);
        $process = $application->start();
        // Texts in traces are shown up to a length.
        $try = 'ini_set("zend.exception_ignore_args", 0);
            ini_set("zend.exception_string_param_max_len", 1000);
            try { Cache::lock("a", 10)->{$arguments[0]}(...$arguments[1]); } catch (Throwable $e) { return [$e::class, (string) $e]; }';
        $process->take('before');
        $server->command('CONFIG', 'SET', 'requirepass', 'another one');
        $server->command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        $errors = [$process->php($try, 'get', [])];
        $server->stop();
        foreach (['get' => [], 'block' => [1], 'release' => [], 'forceRelease' => [], 'refresh' => []] as $method => $arguments) {
            $errors[] = $process->php($try, $method, $arguments);
        }
        foreach ($errors as [$thrown, $text]) {
            self::assertSame($class, $thrown, $text);
        }
        self::assertNoSecret($errors, $application);
    }

    /**
     * @param array<string, mixed> $connection
     * @param array<string, mixed> $options
     */
    private static function application(string $client, array $connection, array $options = []): Application
    {
        $application = new Application(Driver::PhpRedis);
        $application->configure('database', ['redis' => ['client' => $client, 'options' => $options, 'default' => $connection]]);

        return $application;
    }

    /**
     * @return array{whyNot: string|null, dsn: string|null, class: string, isNative: bool, dump: string} about its connection
     */
    private static function check(Application $application, int $locks = 1): array
    {
        [$ours, $stock] = [$application->start(), $application->startStock()];
        $about = $ours->php(self::ABOUT);
        self::assertNull($about['whyNot']);
        self::assertTrue($about['isNative']);
        for ($i = 0; $i < $locks; $i++) {
            self::exclude($ours, $stock);
        }
        self::assertNoSecret($about, $application);

        return $about;
    }

    private static function exclude(Process $ours, Process $stock): void
    {
        foreach ([[$ours, $stock], [$stock, $ours]] as [$holder, $other]) {
            $name = self::lockName();
            $holder->take($name, 30);
            $other->lock($name, 30);
            self::assertFalse($other->call($name, 'get'));
            self::assertTrue($holder->call($name, 'isOwnedByCurrentProcess'));
            self::assertTrue($holder->call($name, 'release'));
            self::assertTrue($other->call($name, 'get'));
            self::assertFalse($holder->call($name, 'release'));
        }
        $stock->lock($name = self::lockName(), 30);
        $ours->take($name, 30);
        self::assertTrue($ours->call($name, 'isHeld'), 'the lock is Latch\'s');
    }

    private static function assertNoSecret(mixed $shown, Application $application, string $secret = self::SECRET): void
    {
        foreach ([json_encode($shown, \JSON_THROW_ON_ERROR | \JSON_UNESCAPED_SLASHES), $application->log()] as $text) {
            self::assertStringNotContainsString($secret, $text);
            self::assertStringNotContainsString(rawurlencode($secret), $text);
        }
    }

    /**
     * @param array<mixed> $options with files as "@name"
     *
     * @return array<mixed>
     */
    private static function inFolder(string $folder, array $options): array
    {
        array_walk_recursive($options, static function (mixed &$value) use ($folder): void {
            $value = \is_string($value) ? str_replace('@', "$folder/", $value) : $value;
        });

        return $options;
    }

    /** With the options of the query in one order. */
    private static function sorted(string $dsn): string
    {
        [$place, $query] = explode('?', $dsn);
        $options = explode('&', $query);
        $order = array_flip(['timeout', 'dbindex', 'prefix']);
        usort($options, static fn (string $a, string $b): int => $order[strtok($a, '=')] <=> $order[strtok($b, '=')]);

        return "$place?" . implode('&', $options);
    }
}
