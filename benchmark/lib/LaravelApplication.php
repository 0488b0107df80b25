<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Illuminate\Cache\DatabaseStore;
use Illuminate\Cache\FileStore;
use Illuminate\Cache\MemcachedStore;
use Illuminate\Cache\RedisStore;
use Illuminate\Contracts\Console\Kernel;
use Illuminate\Contracts\Foundation\Application;
use Illuminate\Foundation\Bootstrap\RegisterProviders;
use RuntimeException;

/**
 * An application on Laravel in this process: one without the package may stand beside one with it.
 */
final class LaravelApplication
{
    /** @var DatabaseStore|FileStore|MemcachedStore|RedisStore that is the cache's */
    public readonly object $store;
    private readonly Application $app;

    /** @param string $subject 'laravel', or 'package': with latch/laravel */
    public function __construct(private readonly string $directory, string $subject)
    {
        self::load();
        $this->app = require "$directory/bootstrap/app.php";
        $this->app->beforeBootstrapping(
            RegisterProviders::class,
            static fn (Application $app) => $app->make('config')->set('latch.enabled', $subject === 'package'),
        );
        $this->app->make(Kernel::class)->bootstrap();
        $this->store = $this->app->make('cache')->store()->getStore();
        str_starts_with($this->store::class, 'Latch\\') === ($subject === 'package')
            || throw new RuntimeException("The store of \"$subject\" is a " . $this->store::class);
    }

    /** What locks have left: keys, rows, items or files. */
    public function left(): int
    {
        return match (true) {
            $this->store instanceof DatabaseStore => $this->store->getConnection()->table('cache_locks')->count(),
            $this->store instanceof FileStore => count($this->app->make('files')->allFiles($this->store->getDirectory())),
            $this->store instanceof MemcachedStore => array_values($this->store->getMemcached()->getStats())[0]['curr_items'],
            $this->store instanceof RedisStore => $this->store->lockConnection()->client()->dbsize(),
        };
    }

    /** Files of the package's queues. */
    public function queueFiles(): int
    {
        $directory = "$this->directory/storage/framework/cache/latch";

        return is_dir($directory) ? count($this->app->make('files')->allFiles($directory)) : 0;
    }

    private static function load(): void
    {
        /** @var \Composer\Autoload\ClassLoader|null $loader */
        static $loader = null;
        if ($loader === null) {
            $loader = require getenv('LATCH_APP_VENDOR') . '/autoload.php';
            $loader->addPsr4('Latch\\Laravel\\', __DIR__ . '/../../bridge/laravel/src');
        }
    }
}
