<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames;

use Latch\Key;
use Latch\Lock;
use Latch\Semaphore;
use Latch\Store\RedisStore;
use Latch\Store\StoreFactory;
use Latch\Tests\RedisClusterServers;
use Latch\Tests\RedisServer;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\Redis\Servers;
use Latch\Tests\Support\TestCase;
use Latch\Tests\Support\Wait;
use PHPUnit\Framework\Attributes\DataProvider;
use Predis\Client as Predis;
use Symfony\Component\Lock as Symfony;

/**
 * RedisStore on the client objects that Symfony's takes, beside Symfony's on the very same objects, in one process.
 */
final class RedisClientsTest extends TestCase
{
    private static ?RedisClusterServers $cluster = null;
    private static ?RedisServer $second = null;

    /**
     * @return iterable<string, array{0: \Closure(int): object, 1?: \Closure(): string}> what Symfony's has, and what
     *                                                                                   ours has in place of it
     */
    public static function clients(): iterable
    {
        yield '\Redis' => [Client::connect(...)];
        yield '\Redis with a prefix' => [static function (int $port): \Redis {
            $redis = Client::connect($port);
            $redis->setOption(\Redis::OPT_PREFIX, 'app:');
            $redis->setOption(\Redis::OPT_SERIALIZER, \Redis::SERIALIZER_PHP);

            return $redis;
        }];
        yield '\RedisArray' => [static fn (int $port): \RedisArray
            => new \RedisArray(["127.0.0.1:$port", '127.0.0.1:' . self::second()->port])];
        yield '\RedisCluster' => [static fn (): \RedisCluster => new \RedisCluster(null, self::cluster()->addresses())];
        yield '\RedisCluster beside a DSN' => [
            static fn (): \RedisCluster => new \RedisCluster(null, self::cluster()->addresses()),
            static fn (): string => self::cluster()->dsn(),
        ];
        yield 'Predis' => [static fn (int $port): Predis => new Predis("tcp://127.0.0.1:$port")];
        yield 'Predis with a prefix, without exceptions' => [static fn (int $port): Predis
            => new Predis("tcp://127.0.0.1:$port", ['prefix' => 'app:', 'exceptions' => false])];
        yield 'Predis with replication' => [static fn (int $port): Predis
            => new Predis(["tcp://127.0.0.1:$port?role=master"], ['replication' => 'predis'])];
        yield 'Predis that chooses among servers' => [static fn (int $port): Predis => new Predis(
            ["tcp://127.0.0.1:$port", 'tcp://127.0.0.1:' . self::second()->port],
            ['cluster' => 'predis', 'prefix' => 'app:'],
        )];
        yield 'Predis with a cluster' => [static fn (): Predis => new Predis(
            array_map(static fn (string $address): string => "tcp://$address", self::cluster()->addresses()),
            ['cluster' => 'redis', 'prefix' => 'app:'],
        )];
    }

    #[DataProvider('clients')]
    public function testItExcludesSymfonysAndIsExcluded(\Closure $connect, ?\Closure $dsn = null): void
    {
        $client = $connect(Servers::fresh()->port);
        $ourStore = new RedisStore($dsn === null ? $client : $dsn());
        foreach (['r', 'order-42', 'foo}bar', '{user}:1', "a\0b"] as $resource) {
            $ours = new Lock(new Key($resource), $ourStore, 300.0);
            $theirs = new Symfony\Lock(new Symfony\Key($resource), new Symfony\Store\RedisStore($client), 300.0);

            self::assertTrue($ours->acquire());
            self::assertFalse($theirs->acquire());
            self::assertFalse($theirs->acquireRead());
            $ours->release();
            self::assertTrue($theirs->acquire());
            self::assertFalse($ours->acquire());
            self::assertFalse($ours->acquire(true, 0.02));
            $theirs->release();

            self::assertTrue($ours->acquireRead());
            self::assertTrue($theirs->acquireRead());
            self::assertFalse($ours->acquire());
            self::assertFalse($theirs->acquire());
            $theirs->release();
            self::assertTrue($ours->acquire());
            self::assertTrue($ours->isAcquired());
            $ours->refresh(100.0);
            self::assertEqualsWithDelta(100.0, (float) $ours->getRemainingLifetime(), 40.0);
            self::assertFalse($theirs->acquire());
            unset($ours);
            if ($dsn !== null) { // the release is not awaited then
                $master = self::cluster()->masterOf($resource);
                Wait::until(static fn (): bool => $master->command('EXISTS', $resource) === 0, 'it is released');
            }
            self::assertTrue($theirs->acquire());
            $theirs->release();
        }
    }

    #[DataProvider('clients')]
    public function testScriptsThatAreGoneAreSentAgain(\Closure $connect, ?\Closure $dsn = null): void
    {
        $server = Servers::fresh();
        $store = StoreFactory::createStore($dsn === null ? $connect($server->port) : $dsn());
        self::assertSame(RedisStore::class, $store::class);
        $lock = new Lock(new Key('r'), $store, 300.0);
        foreach (['acquire', 'refresh', 'isAcquired', 'acquireRead', 'release'] as $method) {
            foreach ([$server, self::second(), ...self::cluster()->masters] as $each) {
                $each->command('SCRIPT', 'FLUSH');
            }
            self::assertContains($lock->$method(), [true, null], $method);
        }
        self::assertFalse($lock->isAcquired());
    }

    #[DataProvider('clients')]
    public function testTheClientTellsTheHolders(\Closure $connect, ?\Closure $dsn = null): void
    {
        $client = $dsn === null ? $connect(Servers::fresh()->port) : $dsn();
        foreach (['r', 'foo}bar', "a\0b"] as $resource) {
            $locks = new RedisStore($client);
            self::assertSame(0, $locks->inspect(new Key($resource))['holderCount']);
            $lock = new Lock(new Key($resource), $locks, 300.0);
            self::assertTrue($lock->acquire());
            $told = $locks->inspect(new Key($resource));
            self::assertSame([$resource, 'exclusive', 1], [$told['name'], $told['mode'], $told['holderCount']]);
            self::assertSame([getmypid(), $lock->getFencingToken()], [$told['holders'][0]['pid'], $told['holders'][0]['fencingToken']]);

            $semaphores = new Semaphore\Store\RedisStore($client);
            $semaphore = new Semaphore\Semaphore(new Semaphore\Key($resource, 5, 2), $semaphores);
            self::assertSame(5, $semaphore->available());
            self::assertTrue($semaphore->acquire());
            self::assertSame(3, $semaphore->available());
            $told = $semaphores->inspect(new Semaphore\Key($resource, 5));
            self::assertSame([$resource, 2, getmypid(), 2, 5], [
                $told['name'], $told['used'],
                $told['holders'][0]['pid'], $told['holders'][0]['weight'], $told['holders'][0]['limit'],
            ]);
        }
    }

    /** What runs in Predis's pipelines and transactions is not the client's, and so it does no harm. */
    public function testPredisInAPipeline(): void
    {
        $client = new Predis('tcp://127.0.0.1:' . Servers::fresh()->port);
        $lock = new Lock(new Key('r'), new RedisStore($client), 300.0);
        $client->pipeline(static function (object $pipeline) use ($lock): void {
            $pipeline->set('a', 'x');
            self::assertTrue($lock->acquire());
            $pipeline->set('b', 'x');
        });
        self::assertTrue($lock->isAcquired());
        $lock->release();
        self::assertSame('x', $client->get('b'));

        $client->multi();
        try {
            $lock->acquire();
            self::fail('A queued command is no lock.');
        } catch (\Latch\Exception\LockAcquiringException $e) {
            self::assertStringContainsString('has queued the command', (string) $e->getPrevious()?->getMessage());
        }
        $client->exec();
        self::assertTrue($lock->acquire());
        $lock->release();
        self::assertSame(0, $client->exists('r'));
    }

    public function testPredisWithoutAServer(): void
    {
        $lock = new Lock(new Key('r'), new RedisStore(new Predis('tcp://127.0.0.1:1')), 300.0);
        try {
            $lock->acquire();
            self::fail('There is no server.');
        } catch (\Latch\Exception\LockAcquiringException $e) {
            self::assertInstanceOf(\Latch\Exception\LockStorageException::class, $e->getPrevious());
            self::assertStringStartsWith('Predis\\', get_debug_type($e->getPrevious()->getPrevious()));
        }
    }

    private static function cluster(): RedisClusterServers
    {
        require_once __DIR__ . '/../../utils/redis_cluster.inc';

        return self::$cluster ??= new RedisClusterServers();
    }

    private static function second(): RedisServer
    {
        return self::$second ??= new RedisServer();
    }

    public static function tearDownAfterClass(): void
    {
        self::$cluster = self::$second = null;
    }
}
