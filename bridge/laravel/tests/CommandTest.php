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
 * artisan latch:locks, latch:release.
 */
final class CommandTest extends LaravelTestCase
{
    #[DataProvider('redisDrivers')]
    public function testALockInRedisIsListed(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $waiter, $operator] = [$application->start(), $application->start(), $application->start()];
        $holder->php('ini_set("latch.holder_name", "night\'s import <fg=red>");');
        $holder->take($name = self::lockName(), 100);
        $waiter->lock($name, 100);
        $waiter->beginCall($name, 'block', 20);
        $waiter->awaitQueued();

        [$status, $output] = self::artisan($operator, 'latch:locks', ['--pattern' => [$name]]);
        self::assertSame(0, $status, $output);
        self::assertMatchesRegularExpression(
            '/\| ' . preg_quote($name) . " +\| night's import <fg=red> +\| {$holder->pid()} on " . preg_quote((string) gethostname())
            . ' +\| \d+ s +\| (99|100) s +\| 1 +\|/',
            $output,
        );
        $all = self::json($operator, ['--pattern' => ["$name*", 'other']]);
        self::assertSame([[$name, null, gethostname(), $holder->pid(), "night's import <fg=red>", 1]], array_map(
            static fn (array $lock): array => [$lock['name'], $lock['owner'], $lock['host'], $lock['pid'], $lock['holder'], $lock['waiters']],
            $all,
        ));
        self::assertEqualsWithDelta(100, $all[0]['remaining'], 15);
        self::assertSame($all[0]['pid'], self::json($operator)[array_search($name, array_column(self::json($operator), 'name'))]['pid']);

        $operator->begin('return Artisan::call("latch:release", ["name" => $arguments[0]]);', $name);
        self::assertSame(0, $operator->finish()->result);
        $got = $waiter->finish();
        self::assertTrue($got->result, $got->message);
        self::assertSame([$waiter->pid()], array_column(self::json($operator, ['--pattern' => [$name]]), 'pid'));
    }

    #[DataProvider('redisDrivers')]
    public function testTheWaiterHasAReleasedLockAtOnce(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $waiter, $operator] = [$application->start(), $application->start(), $application->start()];
        $seconds = [];
        for ($i = 0; $i < 5; $i++) {
            $name = self::lockName();
            $holder->take($name, 100);
            $waiter->lock($name, 100);
            $waiter->beginCall($name, 'block', 20);
            $waiter->awaitQueued();
            $operator->begin('Artisan::call("latch:release", ["name" => $arguments[0]]);', $name);
            $released = $operator->finish();
            $seconds[] = ($waiter->finish()->endedNs - $released->endedNs) / 1e9;
        }

        // Unless it is woken, it asks each 1.1 s.
        self::assertLessThan(0.5, self::median($seconds));
    }

    /** Those of processes without the extension are found by their names. */
    #[DataProvider('redisDrivers')]
    public function testForeignLocksOfTheFramework(Driver $driver): void
    {
        $application = new Application($driver);
        [$stock, $operator] = [$application->startStock(), $application->start()];
        $id = bin2hex(random_bytes(6));
        $names = ["laravel_unique_job:$id", "laravel-queue-overlap:$id", "framework/schedule-$id", "framework/command-$id", "session:$id"];
        foreach ([...$names, "lavender_$id"] as $name) {
            $stock->take($name, 100);
        }
        $stock->take("session:{$id}forever");

        $found = array_column(self::json($operator, ['--foreign' => true, '--pattern' => ["*$id*"]]), 'remaining', 'name');
        ksort($found);
        $expected = [...$names, "session:{$id}forever"];
        sort($expected);
        self::assertSame($expected, array_map('strval', array_keys($found)));
        self::assertNull($found["session:{$id}forever"]);
        self::assertEqualsWithDelta(100, $found["session:$id"], 15);
        self::assertSame([], self::json($operator, ['--pattern' => ["*$id*"]]));
    }

    /** phpredis can put the prefix of the connection before patterns by itself. */
    public function testForeignLocksAreFoundBehindEachPrefix(): void
    {
        foreach ([\Redis::SCAN_NORETRY, \Redis::SCAN_RETRY, \Redis::SCAN_PREFIX] as $scan) {
            $application = new Application(Driver::PhpRedis);
            $connection = ['host' => '127.0.0.1', 'port' => Driver::PhpRedis->server()->port, 'scan' => $scan];
            $application->configure('database', ['redis' => [
                'client' => 'phpredis', 'options' => ['prefix' => 'a[b]*\\'], 'default' => $connection, 'cache' => $connection,
            ]]);
            $name = 'session:' . self::lockName();
            $application->startStock()->take($name, 30);

            self::assertContains($name, array_column(self::json($application->start(), ['--foreign' => true]), 'name'), (string) $scan);
        }
    }

    public function testAListOfForeignLocksVisitsEachKeyOnce(): void
    {
        $server = new RedisServer();
        $application = new Application(Driver::PhpRedis, ['REDIS_PORT' => $server->port]);
        $operator = $application->start();
        for ($i = 0; $i < 5000; $i++) {
            $server->command('SET', "other:$i", '');
        }
        $scans = static fn (): int => (int) (preg_match('/cmdstat_scan:calls=(\d+)/', $server->command('INFO', 'commandstats'), $m) ? $m[1] : 0);
        self::json($operator, ['--pattern' => ['*']]);
        $before = $scans();
        self::assertGreaterThan(0, $before);
        self::json($operator, ['--pattern' => ['*'], '--foreign' => true]);

        // As many as for the list itself, and one of each 1,000 keys, more or less.
        self::assertLessThanOrEqual($before + 12, $scans() - $before);
    }

    #[TestWith([Driver::Sqlite])]
    #[TestWith([Driver::MariaDb])]
    #[TestWith([Driver::PostgreSql])]
    public function testRowsOfADatabase(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $operator] = [$application->startStock(), $application->start()];
        $name = self::lockName();
        $holder->take("$name-a", 100, 'its owner');
        $holder->take("$name-b", 1);
        $holder->php('time_sleep_until(time() + 2);');

        $found = self::json($operator, ['--pattern' => ["$name*"]]);
        self::assertSame([["$name-a", 'its owner']], array_map(static fn (array $lock): array => [$lock['name'], $lock['owner']], $found));
        self::assertEqualsWithDelta(98, $found[0]['remaining'], 15);
        self::assertStringContainsString('owner its owner', self::artisan($operator, 'latch:locks', ['--pattern' => ["$name-a"]])[1]);
        self::assertSame([], self::json($operator, ['--pattern' => ["$name-b"]]));

        self::assertSame(0, self::artisan($operator, 'latch:release', ['name' => "$name-a"])[0]);
        self::assertTrue($holder->php('return Cache::lock($arguments[0])->get();', "$name-a"));
    }

    #[TestWith([Driver::File])]
    #[TestWith([Driver::Memcached])]
    public function testWhatCannotBeListedIsAskedForByName(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $operator] = [$application->start(), $application->start()];
        $holder->take($name = self::lockName(), 100, 'its owner');

        [$status, $output] = self::artisan($operator, 'latch:locks');
        self::assertSame(1, $status);
        self::assertStringContainsString('--pattern=NAME', $output);
        $found = self::json($operator, ['--pattern' => [$name]]);
        self::assertSame([[$name, 'its owner']], array_map(static fn (array $lock): array => [$lock['name'], $lock['owner']], $found));
        if ($driver === Driver::File) {
            self::assertEqualsWithDelta(100, $found[0]['remaining'], 15);
        }
        self::assertSame([], self::json($operator, ['--pattern' => ["$name-other"]]));
        self::assertStringContainsString('No lock is held', self::artisan($operator, 'latch:locks', ['--pattern' => ["$name-other"]])[1]);
    }

    #[TestWith([Driver::PhpRedis])]
    #[TestWith([Driver::Sqlite])]
    #[TestWith([Driver::File])]
    public function testOnlyThatOwnersLockIsReleased(Driver $driver): void
    {
        $application = new Application($driver);
        [$holder, $operator] = [$application->start(), $application->start()];
        $holder->take($name = self::lockName(), 100, 'mine');
        $store = $holder->php('return config("cache.default");');

        [$status, $output] = self::artisan($operator, 'latch:release', ['name' => $name, '--owner' => 'yours']);
        self::assertSame(1, $status);
        self::assertStringContainsString('not held by that owner', $output);
        self::assertTrue($holder->call($name, 'isOwnedByCurrentProcess'));
        [$status, $output] = self::artisan($operator, 'latch:release', ['name' => $name, '--owner' => 'mine', '--store' => $store]);
        self::assertSame(0, $status, $output);
        self::assertFalse($holder->call($name, 'isOwnedByCurrentProcess'));
        [$status, $output] = self::artisan($operator, 'latch:release', ['name' => $name]);
        self::assertSame(1, $status);
        self::assertStringContainsString('is not held', $output);
    }

    /** Also of the commands' errors. */
    public function testMistakes(): void
    {
        $operator = (new Application(Driver::File))->start();
        foreach ([
            ['latch:locks', ['store' => 'no such'], 'no such'],
            ['latch:locks', ['store' => 'array'], 'ArrayStore'],
            ['latch:locks', ['--watch' => 'x'], '--watch takes'],
            ['latch:locks', ['--watch' => '1', '--json' => true], '--watch takes'],
            ['latch:release', ['name' => 'a', '--store' => 'no such'], 'no such'],
        ] as [$command, $arguments, $text]) {
            [$status, $output] = self::artisan($operator, $command, $arguments);
            self::assertSame(2, $status, $output);
            self::assertStringContainsString($text, $output);
        }
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAServerThatIsAwayIsToldWithoutItsPassword(string $client): void
    {
        $server = new RedisServer(['requirepass' => 'geheim-42']);
        $application = new Application(Driver::PhpRedis, [
            'REDIS_CLIENT' => $client, 'REDIS_PORT' => $server->port, 'REDIS_PASSWORD' => 'geheim-42',
        ]);
        $operator = $application->start();
        $operator->take('before');
        $server->stop();
        foreach (['latch:locks' => [], 'latch:release' => ['name' => 'a']] as $command => $arguments) {
            [$status, $output] = self::artisan($operator, $command, $arguments);
            self::assertSame(1, $status, $output);
            self::assertStringContainsString('refused', $output);
            self::assertStringNotContainsString('geheim', $output);
        }
    }

    public function testItLooksAgain(): void
    {
        $application = new Application(Driver::Sqlite);
        $watcher = $application->start();
        $holder = $application->start();
        $holder->take($name = self::lockName(), 100);
        $output = "$application->directory/watched";
        $watcher->begin('Artisan::call("latch:locks", ["--watch" => "0.1"],
            new Symfony\Component\Console\Output\StreamOutput(fopen($arguments[0], "w")));', $output);
        self::await(static fn (): bool => substr_count((string) @file_get_contents($output), $name) >= 2);
        $holder->call($name, 'release');
        self::await(static fn (): bool => substr_count((string) file_get_contents($output), 'No lock is held') >= 2);

        self::assertTrue($watcher->runs());
    }

    #[TestWith([Driver::PhpRedis, 'native, by redis://127.0.0.1:'])]
    #[TestWith([Driver::Predis, 'native, by redis://127.0.0.1:'])]
    #[TestWith([Driver::Sqlite, "Laravel's rows, with a queue: local"])]
    #[TestWith([Driver::File, "Laravel's files, with a queue: local"])]
    public function testTheSectionInAbout(Driver $driver, string $text): void
    {
        $about = self::about((new Application($driver))->start());

        self::assertStringContainsString($text, $about['store_' . ($driver->isRedis() ? 'redis' : ($driver === Driver::Sqlite ? 'database' : 'file'))]);
        self::assertStringContainsString('nothing to do', $about['store_array']);
        self::assertMatchesRegularExpression('/^\d+\.\d+/', $about['extension']);
    }

    public function testAboutSaysWhyNot(): void
    {
        $server = new RedisServer(['requirepass' => 'geheim-42']);
        $application = new Application(Driver::PhpRedis, ['REDIS_PORT' => $server->port, 'REDIS_PASSWORD' => 'geheim-42'], [
            'connections' => ['default' => 'redis://:geheim-42@127.0.0.1?nonsense=geheim-42'],
        ]);
        $process = $application->start();
        $about = self::about($process);
        self::assertStringStartsWith("Laravel's own: ", $about['store_redis']);
        self::assertStringNotContainsString('geheim', json_encode($about));
        self::assertStringNotContainsString('geheim', self::artisan($process, 'about')[1]);

        self::assertSame(
            ['extension' => "not loaded: all locks are Laravel's own"],
            self::about((new Application(Driver::File))->startStock()),
        );
        self::assertStringContainsString(
            'latch.enabled',
            self::about((new Application(Driver::File, settings: ['enabled' => false]))->start())['enabled'],
        );
        $replaced = (new Application(Driver::File))->start();
        $replaced->php('Cache::extend("file", fn () => Cache::repository(new Illuminate\Cache\ArrayStore()));');
        self::assertStringContainsString('the application has replaced the driver', self::about($replaced)['store_file']);
    }

    private static function await(\Closure $happened): void
    {
        $endNs = hrtime(true) + 30_000_000_000;
        while (!$happened()) {
            self::assertLessThan($endNs, hrtime(true), 'It does not happen');
            usleep(10_000);
        }
    }

    /**
     * @param array<string, mixed> $arguments
     *
     * @return array{int, string} exit code, output
     */
    private static function artisan(Process $process, string $command, array $arguments = []): array
    {
        return $process->php('return [Artisan::call(...$arguments), Artisan::output()];', $command, $arguments);
    }

    /**
     * @param array<string, mixed> $arguments
     *
     * @return list<array<string, mixed>>
     */
    private static function json(Process $process, array $arguments = []): array
    {
        [$status, $output] = self::artisan($process, 'latch:locks', $arguments + ['--json' => true]);
        self::assertSame(0, $status, $output);

        return json_decode($output, true, 512, \JSON_THROW_ON_ERROR);
    }

    /**
     * @return array<string, string>
     */
    private static function about(Process $process): array
    {
        [, $output] = self::artisan($process, 'about', ['--only' => 'latch', '--json' => true]);

        return json_decode($output, true, 512, \JSON_THROW_ON_ERROR)['latch'];
    }
}
