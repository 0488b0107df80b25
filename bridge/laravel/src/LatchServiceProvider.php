<?php

declare(strict_types=1);

namespace Latch\Laravel;

use Illuminate\Cache\CacheManager;
use Illuminate\Contracts\Config\Repository as Config;
use Illuminate\Contracts\Foundation\Application;
use Illuminate\Support\ServiceProvider;
use Latch\Laravel\Cache\CacheDrivers;
use Latch\Laravel\Companion\Companions;
use Latch\Laravel\Redis\NativeStores;
use Mockery\LegacyMockInterface;
use Psr\Log\LoggerInterface;

/**
 * Replaces the stores of the cache by those whose locks have a queue. Without the extension, or with latch.enabled = false, it
 * does nothing.
 *
 * @property Application $app
 */
final class LatchServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        if (!\extension_loaded('latch')) {
            return;
        }
        $this->mergeConfig();
        if (!$this->config()->get('latch.enabled')) {
            return;
        }
        $this->app->singleton(Companions::class, fn (): Companions => new Companions(
            $this->config()->get('latch.queue_path') ?? $this->app->storagePath('framework/cache/latch'),
            $this->config()->get('latch.queue') === 'server',
            (bool) $this->config()->get('latch.peers'),
            fn (): LoggerInterface => $this->app->make('log'),
        ));
        $this->app->singleton(NativeStores::class, fn (): NativeStores => new NativeStores(
            fn (): mixed => $this->app->make('redis'),
            fn (string $name): ?string => $this->config()->get('latch.connections')[$name] ?? null,
            (bool) $this->config()->get('latch.peers'),
            fn (): LoggerInterface => $this->app->make('log'),
        ));
        $install = function (mixed $manager): void {
            // Mocks of Cache::spy() and Cache::swap() record every call.
            if ($manager instanceof CacheManager && !$manager instanceof LegacyMockInterface) {
                (new CacheDrivers(
                    fn (): Companions => $this->app->make(Companions::class),
                    fn (): NativeStores => $this->app->make(NativeStores::class),
                ))->install($manager);
            }
        };
        $this->callAfterResolving('cache', $install);
        // Another manager in the place of the first one, as packages for tenants make it.
        $this->app->rebinding('cache', static fn (mixed $app, mixed $manager) => $install($manager));
    }

    public function boot(): void
    {
        $this->publishes([self::configFile() => $this->app->configPath('latch.php')], 'latch-config');
    }

    /**
     * mergeConfigFrom() does nothing when the configuration is cached: but the cache may have been made before this package was
     * there.
     */
    private function mergeConfig(): void
    {
        $this->config()->set('latch', array_merge(require self::configFile(), $this->config()->get('latch', [])));
    }

    private function config(): Config
    {
        return $this->app->make('config');
    }

    private static function configFile(): string
    {
        return \dirname(__DIR__) . '/config/latch.php';
    }
}
