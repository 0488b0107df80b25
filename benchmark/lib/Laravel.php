<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use Latch\Tests\Program;
use Latch\Tests\RedisServer;

foreach (['memcached', 'mysql', 'postgresql', 'redis'] as $name) {
    require_once __DIR__ . "/../../tests/utils/$name.inc";
}
foreach (['Answer', 'Application', 'Driver', 'Process'] as $name) {
    require_once __DIR__ . "/../../bridge/laravel/tests/Support/$name.php";
}

/**
 * The measurements of `benchmark/run laravel`: cache locks of an application on Laravel, with the package and without.
 *
 * Collects the raw numbers; what they come to is LaravelReport's business. Applications and servers are those of the package's
 * tests.
 */
final class Laravel
{
    /** Without the package, and with it. */
    public const SUBJECTS = ['laravel', 'package'];
    /** In how many turns a lock is handed over how many times, by how many wait. */
    private const QUEUE_ROUNDS = 5;
    private const DRAINS = [1 => 8, 8 => 1];
    public const MEMORY_LOCKS = 30_000;

    private readonly Programs $programs;

    public function __construct(private readonly int $rounds)
    {
        $this->programs = new Programs(
            'posix', 'ctype', 'mbstring', 'tokenizer', 'fileinfo', 'igbinary', 'msgpack', 'redis', 'memcached',
            'mysqlnd', 'pdo', 'pdo_mysql', 'pdo_pgsql', 'pdo_sqlite',
        );
    }

    /** @return array<string, mixed> */
    public function measure(): array
    {
        $measured = ['rounds' => $this->rounds, 'software' => $this->software()];
        foreach (Driver::cases() as $driver) {
            $measured['drivers'][$driver->value] = $this->driver($driver);
        }

        return $measured;
    }

    /** @return array<string, mixed> */
    private function driver(Driver $driver): array
    {
        $application = new Application($driver);
        $part = fn (string $name, bool $pinned, string|int ...$arguments): array
            => $this->programs->part($name, $pinned, $application->directory, ...$arguments);
        $measured = ['is_redis' => $driver->isRedis(), 'handoff_ns' => [], 'in_order' => []];
        foreach (self::SUBJECTS as $subject) {
            Command::say("$driver->value, memory, $subject");
            $measured['memory'][$subject] = $part('laravel_memory', false, $subject, self::MEMORY_LOCKS);
        }
        foreach (self::DRAINS as $waiters => $drains) {
            Command::say("$driver->value, hand-over, $waiters waiting");
            for ($round = 0; $round < self::QUEUE_ROUNDS; ++$round) {
                foreach (self::SUBJECTS as $subject) {
                    ['gaps' => $gaps, 'in_order' => $inOrder] = $part('laravel_queue', false, $subject, $waiters, $drains);
                    $measured['handoff_ns'][$waiters][$subject] = [...$measured['handoff_ns'][$waiters][$subject] ?? [], ...$gaps];
                    $measured['in_order'][$waiters][$subject] = ($measured['in_order'][$waiters][$subject] ?? 0) + $inOrder;
                }
            }
        }
        $server = $driver->server();
        foreach (self::settings($server) as $setting => $processor) {
            if ($server !== null) {
                Programs::pin($server->pid(), $processor);
            }
            Command::say("$driver->value, without contention, $setting, $this->rounds rounds");
            $dsn = $server instanceof RedisServer ? $server->dsn() : '';
            $measured['costs'][$setting] = $part('laravel', true, $this->rounds, $dsn);
        }
        $server?->stop();

        return $measured;
    }

    /** @return array<string, int> the processors that a server is pinned to; that of the program first */
    private static function settings(?Program $server): array
    {
        $settings = ['near' => Programs::quietProcessor(), 'apart' => Programs::otherProcessor()];

        return $server === null ? array_slice($settings, 0, 1) : array_unique($settings);
    }

    /** @return array<string, string> what is used besides, and its version */
    private function software(): array
    {
        $versions = (require getenv('LATCH_APP_VENDOR') . '/composer/installed.php')['versions'];

        return [
            'laravel/framework' => $versions['laravel/framework']['pretty_version'],
            'predis' => $versions['predis/predis']['pretty_version'],
            'phpredis' => $this->programs->version('redis'),
            'redis-server' => (new RedisServer())->info('server')['redis_version'],
            'load before' => vsprintf('%.1f, %.1f, %.1f', sys_getloadavg() ?: [0, 0, 0]),
        ];
    }
}
