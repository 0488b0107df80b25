<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use Latch\Laravel\Tests\Support\Process;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Rows, files and items of locks are what they are without Latch: processes with and without it are on one lock.
 */
final class FormatTest extends LaravelTestCase
{
    /** What is written for a lock: text by place; times as seconds from now. */
    private const WRITTEN = <<<'PHP'
        $name = $arguments[0];
        $written = [];
        $store = Cache::getStore();
        if ($store instanceof Illuminate\Cache\DatabaseStore) {
            foreach (DB::table('cache_locks')->where('key', 'like', "%$name%")->get() as $row) {
                $written[$row->key] = [$row->owner, $row->expiration - time()];
            }
        } elseif ($store instanceof Illuminate\Cache\FileStore) {
            foreach (Illuminate\Support\Facades\File::allFiles(storage_path('framework/cache/data')) as $file) {
                $contents = $file->getContents();
                $written[$file->getRelativePathname()] = [substr($contents, 10), substr($contents, 0, 10) - time()];
            }
        } elseif ($store instanceof Illuminate\Cache\RedisStore) {
            $redis = new Redis();
            $redis->connect(config('database.redis.default.host'), (int) config('database.redis.default.port'));
            foreach ($redis->keys("*$name*") as $key) {
                // Latch's own ones stand beside the lock.
                if (!str_contains($key, 'latch:')) {
                    $written[$key] = [$redis->get($key), max(0, $redis->pttl($key)) / 1000];
                }
            }
        } else {
            $written[$store->getPrefix()] = [$store->getMemcached()->get($store->getPrefix() . $name), 0];
        }
        return $written;
        PHP;

    #[DataProvider('drivers')]
    public function testALockIsWrittenAsLaravelWritesIt(Driver $driver): void
    {
        $application = new Application($driver);
        [$stock, $ours] = [$application->startStock(), $application->start()];
        foreach ([[1000, 'somebody'], [0, "a long name\n" . str_repeat('é', 100)]] as [$seconds, $owner]) {
            $name = self::lockName();
            $stock->take($name, $seconds, $owner);
            $expected = $stock->php(self::WRITTEN, $name);
            self::assertCount(1, $expected);
            self::assertTrue($stock->call($name, 'release'));
            $ours->take($name, $seconds, $owner);
            $actual = $ours->php(self::WRITTEN, $name);

            self::assertSame(array_keys($expected), array_keys($actual));
            foreach ($expected as $place => [$text, $rest]) {
                self::assertSame($text, $actual[$place][0]);
                self::assertEqualsWithDelta($rest, $actual[$place][1], 2);
            }
            self::assertTrue($ours->call($name, 'release'));
            self::assertSame(
                $driver === Driver::Memcached ? [[false, 0]] : [],
                array_values($ours->php(self::WRITTEN, $name)),
            );
        }
    }

    #[DataProvider('drivers')]
    public function testAnOwnerIsKnownInAllProcesses(Driver $driver): void
    {
        $application = new Application($driver);
        $processes = [$application->startStock(), $application->start()];
        foreach ($processes as $taker) {
            foreach ($processes as $releaser) {
                $name = self::lockName();
                $taker->take($name, 100);
                $owner = $taker->call($name, 'owner');
                self::assertFalse(self::get($releaser, $name));
                self::assertFalse(self::restored($releaser, $name, 'somebody else', 'release'));
                self::assertTrue(self::restored($releaser, $name, $owner, 'isOwnedByCurrentProcess'));
                self::assertTrue(self::restored($releaser, $name, $owner, 'release'));
                self::assertFalse($taker->call($name, 'isOwnedByCurrentProcess'));
                self::assertFalse($taker->call($name, 'release'));
                self::assertTrue(self::get($releaser, $name));
            }
        }
    }

    #[DataProvider('drivers')]
    public function testObjectsAreOfLaravelsClasses(Driver $driver): void
    {
        $application = new Application($driver);
        [$expected, $actual] = [
            $application->startStock()->php(self::CLASSES),
            $application->start()->php(self::CLASSES),
        ];

        foreach ($expected as $what => $class) {
            self::assertStringStartsWith('Latch\Laravel\Cache\\', $actual[$what][0]);
            self::assertContains($class[0], $actual[$what]);
        }
    }

    /** The classes of a store and its locks, with those of their parents. */
    private const CLASSES = <<<'PHP'
        $objects = ['store' => Cache::getStore(), 'lock' => Cache::lock('a', 10), 'restored' => Cache::restoreLock('a', 'b')];
        return array_map(fn ($object) => [$object::class, ...array_values(class_parents($object))], $objects);
        PHP;

    private static function get(Process $process, string $name): bool
    {
        return $process->php('return Cache::lock($arguments[0], 100)->get();', $name);
    }

    private static function restored(Process $process, string $name, string $owner, string $method): mixed
    {
        return $process->php('return Cache::restoreLock($arguments[0], $arguments[1])->{$arguments[2]}();', $name, $owner, $method);
    }
}
