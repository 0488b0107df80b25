<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Tests\RedisClusterServers;
use Latch\Tests\RedisServer;
use Latch\Tests\RedisTls;
use Latch\Tests\RedisTrio;
use Latch\Tests\Support\DocumentTestCase;

require_once __DIR__ . '/../../../utils/redis_cluster.inc';
require_once __DIR__ . '/../../../utils/redis_sentinel.inc';
require_once __DIR__ . '/../../../utils/redis_tls.inc';

final class RedisTest extends DocumentTestCase
{
    /** Takes the lock of $store, and gives it back. */
    private const USE_IT = <<<'PHP'

        $lock = (new Latch\LockFactory($store))->createLock('r', ttl: 30);
        echo $lock->acquire() && $lock->isHeld() ? 'held' : 'refused';
        $lock->release();
        PHP;

    /** @var array<string, string> */
    private array $places = [];

    protected static function page(): string
    {
        return 'docs/redis.md';
    }

    protected function substitutes(): array
    {
        return $this->places;
    }

    /** Each test has servers of its own: see at(). */
    protected function setUp(): void
    {
    }

    /** @param array<string, string> $places what takes the place of the page's hosts */
    private function at(array $places): void
    {
        $this->places = $places;
        $this->prepare();
    }

    public function testAnInvoiceIsSentUnderTheLock(): void
    {
        $server = new RedisServer();
        $server->setUser('user', 'on', '>password', '~*', '&*', '+@all');
        $this->at(['redis.example.com:6379' => "127.0.0.1:$server->port"]);

        self::assertMatchesRegularExpression('/^invoice 42 by \d{16}: 1$/', $this->said(<<<'PHP'
            function sendInvoice(int $number, int $fencing): void
            {
                echo "invoice $number by $fencing: ";
            }
            require example('locks-in-redis-1.php');
            echo $lock->acquire() ? 1 : 0;
            PHP));
        $server->command('SELECT', '2');
        self::assertSame(0, $server->command('EXISTS', 'shop:invoice-42'));
        self::assertSame(1, $server->command('EXISTS', 'shop:latch:fencing'));
    }

    public function testTls(): void
    {
        $server = new RedisServer(['requirepass' => 'password']);
        $tls = new RedisTls($server);
        $this->at([
            'redis.example.com:6380' => "localhost:$tls->port",
            '/etc/redis/ca.crt' => "$tls->directory/ca.crt",
            'new RedisStore' => '$store = new Latch\Store\RedisStore',
        ]);

        self::assertSame('held', $this->said("require example('tls-1.php');" . self::USE_IT));
    }

    public function testSentinel(): void
    {
        $trio = new RedisTrio(['requirepass' => 'password']);
        $this->at([
            '10.0.0.1:26379' => "127.0.0.1:{$trio->sentinels[0]->port}",
            '10.0.0.2:26379' => "127.0.0.1:{$trio->sentinels[1]->port}",
            '10.0.0.3:26379' => "127.0.0.1:{$trio->sentinels[2]->port}",
            'mymaster' => RedisTrio::MASTER,
            'new RedisStore' => 'new Latch\Store\RedisStore',
        ]);

        self::assertSame('held', $this->said("require example('sentinel-1.php');" . self::USE_IT));
    }

    public function testCluster(): void
    {
        $cluster = new RedisClusterServers(3, false, ['requirepass' => 'password', 'masterauth' => 'password']);
        $addresses = $cluster->addresses();
        $this->at([
            '10.0.0.1:6379' => $addresses[0],
            '10.0.0.2:6379' => $addresses[1],
            '10.0.0.3:6379' => $addresses[2],
            'new RedisStore' => 'new Latch\Store\RedisStore',
        ]);

        self::assertSame('held', $this->said("require example('cluster-1.php');" . self::USE_IT));
    }

    public function testAClientObject(): void
    {
        $server = new RedisServer();
        $this->at([
            "'redis.example.com'" => "'127.0.0.1', $server->port",
            'new RedisStore' => 'new Latch\Store\RedisStore',
        ]);

        self::assertSame('held', $this->said("require example('client-objects-1.php');" . self::USE_IT));
    }

    public function testALockThatIsAString(): void
    {
        $server = new RedisServer();
        $this->at(['redis.example.com' => "127.0.0.1:$server->port"]);

        self::assertSame('worker 7', $this->said(strtr(<<<'PHP'
            function import(): void
            {
                $redis = new \Redis();
                $redis->connect('127.0.0.1', PORT);
                echo $redis->get('laravel_database_laravel_cache_import');
            }
            require example('locks-that-are-strings-1.php');
            PHP, ['PORT' => (string) $server->port])));
        self::assertSame(0, $server->command('EXISTS', 'laravel_database_laravel_cache_import'));
    }

    public function testAHolderIsKnownAndLosesItsLock(): void
    {
        $server = new RedisServer();
        $this->at(['new Key' => 'new Latch\Key']);
        // The identity in the page is another one than that of the holder here.
        $program = <<<'PHP'
            $store = new Latch\Store\RedisStore('DSN');
            $holder = (new Latch\LockFactory($store))->createLock('invoice-42', ttl: 30);
            $holder->acquire();
            $found = $store->inspect(new Latch\Key('invoice-42'));
            $text = str_replace('023e728e309be465', $found['holders'][0]['id'], file_get_contents(example('who-holds-it-1.php')));
            file_put_contents(__DIR__ . '/with-the-identity.php', $text);
            require __DIR__ . '/with-the-identity.php';
            $shape = fn (array $array): array => array_map(
                fn ($value) => is_array($value) ? $GLOBALS['shape']($value) : gettype($value),
                $array,
            );
            preg_match('~^// (\[.*?\]\], .*\])$~ms', $text, $match);
            $told = eval('return ' . str_replace("\n//", '', $match[1]) . ';');
            echo json_encode([$shape($found) === $shape($told), $holder->isAcquired(), $store->listHeld()]);
            PHP;

        self::assertSame('[true,false,[]]', $this->said(str_replace('DSN', $server->dsn(), $program)));
    }

    public function testRightsThatCanBePasted(): void
    {
        $server = new RedisServer();
        $this->at([]);
        $this->install('redis-cli', [trim((string) shell_exec('command -v redis-cli')), '-p', (string) $server->port]);

        self::assertSame('OK', trim($this->shellSaid($this->text('rights-1.sh'))));
        $dsn = $server->dsn('', 'shop:PASSWORD@');
        self::assertSame('held', $this->said("\$store = new Latch\\Store\\RedisStore('$dsn');" . self::USE_IT));
    }
}
