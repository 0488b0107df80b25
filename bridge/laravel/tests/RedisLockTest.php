<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use Latch\Laravel\Tests\Support\Process;
use Latch\Tests\RedisServer;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * Locks in Redis: what is the same as without Latch, and what is more.
 */
final class RedisLockTest extends LaravelTestCase
{
    /**
     * @return iterable<string, array{array<string, int>}> options of phpredis
     */
    public static function packings(): iterable
    {
        $constants = (new \ReflectionClass(\Redis::class))->getConstants();
        foreach ($constants as $serializer => $number) {
            if (preg_match('/^SERIALIZER_/', $serializer)) {
                yield $serializer => [['serializer' => $number]];
            }
        }
        foreach (['LZF', 'ZSTD', 'LZ4'] as $algorithm) {
            if (isset($constants["COMPRESSION_$algorithm"])) {
                yield $algorithm => [['compression' => $constants["COMPRESSION_$algorithm"]]];
                yield "$algorithm, PHP" => [['compression' => $constants["COMPRESSION_$algorithm"], 'serializer' => \Redis::SERIALIZER_PHP]];
            }
        }
    }

    /**
     * An owner is handed over, in all four directions.
     *
     * @param array<string, int> $options
     */
    #[DataProvider('packings')]
    public function testAnOwnerIsPackedAsLaravelPacksIt(array $options): void
    {
        $application = new Application(Driver::PhpRedis);
        $application->configure('database', ['redis' => [
            'client' => 'phpredis', 'options' => ['prefix' => 'shop:'] + $options,
            'default' => ['host' => '127.0.0.1', 'port' => Driver::PhpRedis->server()->port],
        ]]);
        $processes = [$application->startStock(), $application->start()];
        // The last one is a number, and the one before is compressed.
        foreach (["a\0b\r\n\u{fffd}", str_repeat('0123456789', 20), '42'] as $owner) {
            foreach ($processes as $taker) {
                foreach ($processes as $releaser) {
                    $name = self::lockName();
                    $taker->take($name, 100, $owner);
                    self::assertSame(
                        [false, false, true, true, true, false],
                        $releaser->php(<<<'PHP'
                            [$name, $owner] = $arguments;
                            return [Cache::lock($name, 100, $owner)->get(), Cache::restoreLock($name, 'else')->release(),
                                Cache::restoreLock($name, $owner)->isOwnedBy($owner), Cache::restoreLock($name, $owner)->release(),
                                Cache::lock($name, 100, $owner)->get(), Cache::lock($name, 100, $owner)->get()];
                            PHP, $name, $owner),
                    );
                }
            }
        }
    }

    /** Code that makes a store, in each its own application. */
    #[TestWith(['return Cache::store();'], 'by name')]
    #[TestWith(['return Cache::tags(["a"]);'], 'with tags')]
    #[TestWith(['return tap(clone Cache::store(), fn ($cache) => $cache->getStore()->setLockConnection("cache"));'], 'a copy on another connection')]
    #[TestWith(['$app->make("cache"); $app->extend("cache", fn ($old, $app) => new Illuminate\Cache\CacheManager($app));
        return $app->make("cache")->store();'], 'another manager')]
    #[TestWith(['config(["cache.stores.f" => ["driver" => "failover", "stores" => ["redis"]]]); return Cache::store("f");', 12], 'failover')]
    #[TestWith(['return Cache::memo();', 12], 'memoized')]
    #[TestWith(['$app->instance("redis", new Illuminate\Redis\RedisManager($app, "phpredis", config("database.redis")));
        return $app->make("cache")->store();'], 'another manager of connections')]
    public function testEachWayToAStore(string $code, int $since = 11): void
    {
        $process = (new Application(Driver::PhpRedis))->start();
        if ($since > (int) $process->php('return $app->version();')) {
            // This Laravel does not have it.
            self::assertSame(11, (int) $process->php('return $app->version();'));

            return;
        }
        $answer = $process->php("\$store = (function (\$app) { $code })(\$app); \$lock = \$store->lock(\$arguments[0], 10);
            return [\$lock::class, \$lock->getConnectionName(), \$lock->get(), \$lock->isOwnedByCurrentProcess(), \$lock->release()];",
            self::lockName());

        self::assertSame('Latch\Laravel\Cache\PhpRedisLock', $answer[0]);
        self::assertSame([true, true, true], \array_slice($answer, 2));
        self::assertSame(str_contains($code, 'setLockConnection') ? 'cache' : 'default', $answer[1]);
    }

    /** Latch's own keys begin with "latch:". */
    public function testANameThatLatchDoesNotHaveStaysLaravels(): void
    {
        $application = new Application(Driver::PhpRedis, ['CACHE_PREFIX' => '']);
        $classes = $application->start()->php(<<<'PHP'
            return array_map(fn ($lock) => [$lock::class, $lock->get(), $lock->release()],
                [Cache::lock('latch:string:a', 10), Cache::lock('a', 10, ''), Cache::lock('a', 10, str_repeat('x', 1025)), Cache::lock('a', 10)]);
            PHP);
        $stock = ['Illuminate\Cache\PhpRedisLock', true, true];

        self::assertSame([$stock, $stock, $stock, ['Latch\Laravel\Cache\PhpRedisLock', true, true]], $classes);
    }

    #[DataProvider('redisDrivers')]
    public function testFractionsOfSecondsCount(Driver $driver): void
    {
        $process = (new Application($driver))->start();
        $answer = $process->php(<<<'PHP'
            $lock = Cache::lock($arguments[0], 0.4);
            $begin = microtime(true);
            $got = $lock->get();
            $other = Cache::lock($arguments[0], 10)->block(3);
            return [$got, $lock->isHeld(), microtime(true) - $begin];
            PHP, self::lockName());

        self::assertSame([true, false], [$answer[0], $answer[1]]);
        self::assertGreaterThanOrEqual(0.4, $answer[2]);
        self::assertLessThan(1.5, $answer[2]);
    }

    /** The owner has the lock once more, by another object: another request of the same user. */
    #[DataProvider('redisDrivers')]
    public function testAnObjectDoesNotReleaseWhatAnotherOneOfItsOwnerHas(Driver $driver): void
    {
        $process = (new Application($driver))->start();
        $answer = $process->php(<<<'PHP'
            [$name] = $arguments;
            $first = Cache::lock($name, 0.1, 'me');
            $first->get();
            usleep(150_000);
            $second = Cache::lock($name, 30, 'me');
            return [$second->get(), $first->refresh(50), $first->release(), $second->isHeld(), Cache::lock($name, 30)->get(), $second->release()];
            PHP, self::lockName());

        self::assertSame([true, false, false, true, false, true], $answer);
    }

    #[DataProvider('redisDrivers')]
    public function testALockCanBeRenewed(Driver $driver): void
    {
        $process = (new Application($driver))->start();
        $answer = $process->php(<<<'PHP'
            [$name] = $arguments;
            $lock = Cache::lock($name, 10, 'me');
            $ttl = fn () => Cache::lock($name)->holder()['remaining'];
            return [$lock->refresh(), $lock->get(), $lock->refresh(100), $ttl() > 90, $lock->refresh(), $ttl() < 11, $lock->refresh(0), $ttl(),
                Cache::restoreLock($name, 'me')->refresh(50.5), $ttl() > 40, Cache::restoreLock($name, 'me')->refresh(), $ttl(),
                Cache::restoreLock($name, 'you')->refresh(5), $lock->release(), $lock->refresh(5)];
            PHP, self::lockName());

        self::assertSame([false, true, true, true, true, true, true, null, true, true, true, null, false, true, false], $answer);
    }

    #[DataProvider('redisDrivers')]
    public function testWhatAHolderCanAskFor(Driver $driver): void
    {
        $process = (new Application($driver))->start();
        [$before, $during, $holder, $after] = $process->php(<<<'PHP'
            [$name] = $arguments;
            $lock = Cache::lock($name, 10);
            $state = fn () => [$lock->isHeld(), $lock->remaining() !== null, $lock->fencingToken(), $lock->holder() === null];
            $before = $state();
            $lock->get();
            $during = $state();
            $holder = $lock->holder();
            Cache::lock($name)->forceRelease();
            $lock->forceRelease();
            return [$before, $during, $holder, $state()];
            PHP, self::lockName());

        self::assertSame([false, false, null, true], $before);
        self::assertSame([false, false, null, true], $after);
        self::assertSame([true, true, $holder['fencingToken'], false], $during);
        self::assertSame($process->pid(), $holder['pid']);
    }

    #[DataProvider('redisDrivers')]
    public function testALockIsKeptAliveWhileItsHolderWorks(Driver $driver): void
    {
        $application = new Application($driver);
        [$process, $stock] = [$application->start(), $application->startStock()];
        $name = self::lockName();
        $process->lock($name, 1);
        $process->php('$locks[$arguments[0]]->keepAlive(); return $locks[$arguments[0]]->get();', $name);
        $process->begin('for ($end = microtime(true) + 2.5; microtime(true) < $end;); return $locks[$arguments[0]]->isHeld();', $name);
        $stock->lock($name, 10);
        for ($end = microtime(true) + 2; microtime(true) < $end; usleep(100_000)) {
            self::assertFalse($stock->call($name, 'get'));
        }
        self::assertTrue($process->finish()->result);
        // It ends with its object.
        $process->php('unset($locks[$arguments[0]]);', $name);
        self::assertTrue($stock->call($name, 'block', 5));
    }

    #[DataProvider('redisDrivers')]
    public function testALossIsReported(Driver $driver): void
    {
        $application = new Application($driver);
        [$process, $stock] = [$application->start(), $application->startStock()];
        $name = self::lockName();
        $process->php(<<<'PHP'
            $locks['lost'] = new ArrayObject();
            $lock = Cache::lock($arguments[0], 1)->keepAlive()->onLost(fn ($lock, $reason) => $locks['lost'][] = [$lock->owner(), $reason]);
            $lock->get();
            $locks['lock'] = $lock;
            PHP, $name);
        $stock->php('Cache::lock($arguments[0])->forceRelease();', $name);
        [$lost, $owner] = $process->php(<<<'PHP'
            for ($end = microtime(true) + 5; microtime(true) < $end && count($locks['lost']) === 0; usleep(1000));
            return [(array) $locks['lost'], $locks['lock']->owner()];
            PHP);

        self::assertCount(1, $lost);
        self::assertSame($owner, $lost[0][0]);
        self::assertNotSame('', $lost[0][1]);
    }

    /** Laravel's queues the command there, and says that it has the lock. */
    public function testATransactionOfTheConnectionIsNoTransactionOfTheLock(): void
    {
        $application = new Application(Driver::PhpRedis);
        $name = self::lockName();
        $holds = $application->start()->php(<<<'PHP'
            $client = Cache::getStore()->lockConnection()->client();
            $client->multi();
            $got = Cache::lock($arguments[0], 30)->get();
            $client->discard();
            return $got;
            PHP, $name);

        self::assertTrue($holds);
        self::assertFalse($application->startStock()->php('return Cache::lock($arguments[0], 30)->get();', $name));
    }

    /** Each session has one request at a time, on a copy of the store with a connection of its own. */
    #[DataProvider('redisDrivers')]
    public function testSessionsBlock(Driver $driver): void
    {
        $application = new Application($driver, ['SESSION_DRIVER' => 'redis', 'SESSION_CONNECTION' => 'sessions']);
        $connection = ['host' => '127.0.0.1', 'port' => $driver->server()->port];
        $application->configure('database', ['redis' => [
            'client' => $driver === Driver::Predis ? 'predis' : 'phpredis', 'options' => ['prefix' => 'shop:'],
            'default' => $connection, 'cache' => $connection, 'sessions' => $connection + ['database' => 3],
        ]]);
        $request = <<<'PHP'
            $request = Illuminate\Http\Request::create('/');
            $request->setLaravelSession($session = $app->make('session')->driver());
            $request->cookies->set($session->getName(), str_repeat('a', 40));
            $route = (new Illuminate\Routing\Route('GET', '/', fn () => ''))->block(10, 10);
            $request->setRouteResolver(fn () => $route);
            $app->make(Illuminate\Session\Middleware\StartSession::class)->handle($request, function () use (&$from, &$to, $arguments) {
                $from = hrtime(true);
                usleep($arguments[0]);
                $to = hrtime(true);
                return new Illuminate\Http\Response();
            });
            return [$from, $to];
            PHP;
        $processes = [$application->start(), $application->start(), $application->startStock()];
        foreach ($processes as $process) {
            $process->begin($request, 200_000);
        }
        $spans = array_map(static fn (Process $process): array => $process->finish()->result, $processes);
        sort($spans);

        self::assertGreaterThan($spans[0][1], $spans[1][0]);
        self::assertGreaterThan($spans[1][1], $spans[2][0]);
    }

    /** Laravel's send 4 a second each. */
    #[DataProvider('redisDrivers')]
    public function testWaitersSendFewRequests(Driver $driver): void
    {
        $server = $driver->server();
        $application = new Application($driver);
        $holder = $application->start();
        $name = self::lockName();
        $holder->take($name, 30);
        $waiters = [];
        for ($i = 0; $i < 8; $i++) {
            $waiters[] = $waiter = $application->start();
            $waiter->lock($name, 30);
            $waiter->beginCall($name, 'block', 20);
            $waiter->awaitQueued();
        }
        usleep(50_000);
        $before = self::requests($server);
        usleep(3_000_000);
        $requests = self::requests($server) - $before;
        foreach ([$holder, ...$waiters] as $process) {
            $process === $holder || self::assertTrue($process->finish()->result);
            $process->call($name, 'release');
        }

        self::assertLessThanOrEqual(16, $requests);
    }

    /** It has the lock for a second, in which it does nothing. */
    #[DataProvider('redisDrivers')]
    public function testAStoppedWaiterCostsTheOthersASecond(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $stopped, $waiter] = [$application->start(), $application->start(), $application->start()];
        $name = self::lockName();
        $holder->take($name, 30);
        foreach ([$stopped, $waiter] as $process) {
            $process->lock($name, 30);
            $process->beginCall($name, 'block', 20);
            $process->awaitQueued();
        }
        $stopped->freeze();
        $holder->beginCall($name, 'release');
        $released = $holder->finish();
        $got = $waiter->finish();
        self::assertTrue($got->result);
        self::assertLessThan(3.0, ($got->endedNs - $released->endedNs) / 1e9);

        $waiter->call($name, 'release');
        $stopped->thaw();
        self::assertTrue($stopped->finish()->result);
    }

    /** Scripts that were carried out. */
    private static function requests(RedisServer $server): int
    {
        return $server->count('evalsha') + $server->count('eval');
    }
}
