<?php

declare(strict_types=1);

namespace Latch\Laravel\Console;

use Illuminate\Contracts\Cache\Factory;
use Illuminate\Contracts\Cache\Store;
use Illuminate\Contracts\Config\Repository as Config;
use Illuminate\Contracts\Container\Container;
use Latch\Laravel\Cache\DatabaseStore;
use Latch\Laravel\Cache\FileStore;
use Latch\Laravel\Cache\MemcachedStore;
use Latch\Laravel\Cache\RedisStore;
use Latch\Laravel\Redis\NativeStores;
use Symfony\Component\Console\Formatter\OutputFormatter;

/**
 * What "artisan about" says about Latch: which stores of the cache have its locks, and why others do not.
 *
 * @internal
 */
final class AboutSection
{
    public function __construct(private readonly Config $config, private readonly Container $container)
    {
    }

    /**
     * @return array<string, string>
     */
    public function rows(): array
    {
        if (!\extension_loaded('latch')) {
            return ['Extension' => "not loaded: all locks are Laravel's own"];
        }
        $rows = ['Extension' => (string) phpversion('latch')];
        if (!$this->config->get('latch.enabled')) {
            return $rows + ['Enabled' => "no (latch.enabled): all locks are Laravel's own"];
        }
        foreach (array_keys($this->config->get('cache.stores', [])) as $name) {
            $rows["Store $name"] = OutputFormatter::escape($this->store((string) $name));
        }

        return $rows;
    }

    private function store(string $name): string
    {
        try {
            $store = $this->container->make(Factory::class)->store($name)->getStore();

            return match (true) {
                $store instanceof RedisStore => $this->redis($store),
                $store instanceof DatabaseStore => "Laravel's rows, with a queue: " . $this->config->get('latch.queue'),
                $store instanceof FileStore => "Laravel's files, with a queue: local",
                $store instanceof MemcachedStore => "Laravel's items, with a queue: local",
                default => self::other($store, $this->config->get("cache.stores.$name.driver")),
            };
        } catch (\Throwable $e) {
            return 'unknown: ' . $e->getMessage();
        }
    }

    private function redis(RedisStore $store): string
    {
        $connection = $store->lockConnection();
        $natives = $this->container->make(NativeStores::class);
        $reason = $natives->whyNot($connection);

        return match (true) {
            $reason !== null => "Laravel's own: $reason",
            $natives->dsn($connection) !== null => 'native, by ' . $natives->dsn($connection),
            default => "native, by the connection's client, whose waiters poll: its server cannot be told from it",
        };
    }

    private static function other(Store $store, ?string $driver): string
    {
        return $driver === 'failover' ? 'as of its stores' : "Laravel's own: " . (\in_array($driver, ['redis', 'database', 'file', 'memcached'], true)
            ? 'the application has replaced the driver, by ' . $store::class
            : "nothing to do for the driver \"$driver\"");
    }
}
