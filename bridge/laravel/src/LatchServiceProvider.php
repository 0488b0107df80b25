<?php

declare(strict_types=1);

namespace Latch\Laravel;

use Illuminate\Cache\CacheManager;
use Illuminate\Console\CommandMutex as CommandMutexContract;
use Illuminate\Console\Scheduling\EventMutex as EventMutexContract;
use Illuminate\Contracts\Config\Repository as Config;
use Illuminate\Contracts\Foundation\Application;
use Illuminate\Foundation\Console\AboutCommand;
use Illuminate\Support\ServiceProvider;
use Latch\Laravel\Cache\CacheDrivers;
use Latch\Laravel\Companion\Companions;
use Latch\Laravel\Console\AboutSection;
use Latch\Laravel\Console\CommandMutex;
use Latch\Laravel\Console\HolderNames;
use Latch\Laravel\Console\LocksCommand;
use Latch\Laravel\Console\ReleaseCommand;
use Latch\Laravel\Events\Announcer;
use Latch\Laravel\Lease\Leases;
use Latch\Laravel\Redis\NativeStores;
use Latch\Laravel\Scheduling\EventMutex;
use Mockery\LegacyMockInterface;
use Psr\Log\LoggerInterface;

/**
 * Replaces the stores of the cache by those whose locks have a queue. Without the extension, or with latch.enabled = false, it
 * does nothing but say so in "artisan about".
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
        if (!$this->isOn()) {
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
        $this->app->singleton(Announcer::class, fn (): Announcer => new Announcer(fn (): mixed => $this->app->make('events')));
        $this->app->singleton(Leases::class, fn (): Leases => new Leases(fn (): array => $this->config()->get('latch.leases')));
        $install = function (mixed $manager): void {
            // Mocks of Cache::spy() and Cache::swap() record every call.
            if ($manager instanceof CacheManager && !$manager instanceof LegacyMockInterface) {
                (new CacheDrivers(
                    fn (): Companions => $this->app->make(Companions::class),
                    fn (): NativeStores => $this->app->make(NativeStores::class),
                    $this->app->make(Announcer::class),
                    $this->app->make(Leases::class),
                ))->install($manager);
            }
        };
        $this->callAfterResolving('cache', $install);
        // Another manager in the place of the first one, as packages for tenants make it.
        $this->app->rebinding('cache', static fn (mixed $app, mixed $manager) => $install($manager));
        $this->bindMutexes();
    }

    public function boot(): void
    {
        $this->publishes([self::configFile() => $this->app->configPath('latch.php')], 'latch-config');
        AboutCommand::add('Latch', fn (): array => $this->app->make(AboutSection::class)->rows());
        if (!$this->isOn()) {
            return;
        }
        $this->commands([LocksCommand::class, ReleaseCommand::class]);
        (new HolderNames())->listen($this->app->make('events'));
    }

    /** Those that renew their locks, where the application wants that, and has none of its own. */
    private function bindMutexes(): void
    {
        foreach ([
            'schedule_lease' => [EventMutexContract::class, EventMutex::class],
            'command_lease' => [CommandMutexContract::class, CommandMutex::class],
        ] as $setting => [$contract, $mutex]) {
            $lease = $this->config()->get("latch.$setting");
            if ($lease > 0) {
                $this->app->singletonIf(
                    $contract,
                    static fn (Application $app): object => (new $mutex($app->make('cache')))->withLease((float) $lease),
                );
            }
        }
    }

    private function isOn(): bool
    {
        return \extension_loaded('latch') && $this->config()->get('latch.enabled');
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
