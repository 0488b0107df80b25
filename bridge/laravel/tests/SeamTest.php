<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * Which stores have locks with a queue, and when.
 */
final class SeamTest extends LaravelTestCase
{
    private const STOCK = 'Illuminate\Cache\FileLock';
    private const OURS = 'Latch\Laravel\Cache\FileLock';

    public function testThePackageIsFoundByLaravel(): void
    {
        self::assertSame(self::OURS, self::classIn(new Application(Driver::File)));
    }

    #[DataProvider('drivers')]
    public function testWithoutTheExtensionAllIsLaravels(Driver $driver): void
    {
        $application = new Application($driver);
        $code = 'return [Cache::getStore()::class, Cache::lock("a")::class, $app->bound("Latch\Laravel\Companion\Companions")];';
        [$store, $lock, $isBound] = $application->startStock()->php($code);

        self::assertStringStartsWith('Illuminate\Cache\\', $store);
        self::assertStringStartsWith('Illuminate\Cache\\', $lock);
        self::assertFalse($isBound);
    }

    #[TestWith([['LATCH_ENABLED' => 'false']])]
    #[TestWith([[], ['enabled' => false]])]
    public function testItCanBeSwitchedOff(array $env, ?array $settings = null): void
    {
        self::assertSame(self::STOCK, self::classIn(new Application(Driver::File, $env, $settings)));
    }

    /** The cache is made while another release is deployed, and may be older than the package. */
    public function testACachedConfigurationOfBeforeIsCompleted(): void
    {
        $application = new Application(Driver::File);
        $cached = "$application->directory/bootstrap/cache/config.php";
        $application->startStock()->php('Artisan::call("config:cache");');
        self::assertArrayNotHasKey('latch', require $cached);

        self::assertSame(self::OURS, self::classIn($application));
        $application->start()->take($name = self::lockName(), 30);
        self::assertDirectoryExists("$application->directory/storage/framework/cache/latch/holds");
    }

    public function testACachedConfigurationIsFollowed(): void
    {
        $application = new Application(Driver::File, ['LATCH_QUEUE_PATH' => '/dev/shm/latch-laravel-elsewhere-' . getmypid()]);
        $path = '/dev/shm/latch-laravel-elsewhere-' . getmypid();
        $application->start()->php('Artisan::call("config:cache");');
        $application->writeEnv([]);
        $application->start()->take(self::lockName(), 30);
        self::assertDirectoryExists("$path/holds");
        exec("rm -r $path");
    }

    /** Code, and the class of the lock then: each in an application of its own. */
    #[TestWith(['return Cache::store("file");', self::OURS], 'by name')]
    #[TestWith(['return $app->make("cache.store");', self::OURS], 'the repository')]
    #[TestWith(['return clone Cache::store("file");', self::OURS], 'a cloned repository')]
    #[TestWith(['return Cache::build(["driver" => "file", "path" => storage_path("x")]);', self::OURS, 12], 'on demand')]
    #[TestWith(['return Cache::memo();', self::OURS, 12], 'memoized')]
    #[TestWith(['config(["cache.stores.f" => ["driver" => "failover", "stores" => ["file"]]]); return Cache::store("f");',
        self::OURS, 12], 'failover')]
    #[TestWith(['Cache::extend("file", fn () => Cache::repository(new Illuminate\Cache\FileStore(app("files"), storage_path("x"))));
        return Cache::store("file");', self::STOCK], 'a driver that the application replaces later')]
    #[TestWith(['Cache::forgetDriver("file"); return Cache::store("file");', self::OURS], 'created anew')]
    #[TestWith(['$app->make("cache"); $app->extend("cache", fn ($old, $app) => new Illuminate\Cache\CacheManager($app));
        return $app->make("cache")->store("file");', self::OURS], 'another manager')]
    #[TestWith(['return Cache::store("array");', 'Illuminate\Cache\ArrayLock'], 'a driver that is not replaced')]
    public function testEachWayToAStore(string $code, string $class, int $since = 11): void
    {
        $process = (new Application(Driver::File))->start();
        if ($since > (int) $process->php('return $app->version();')) {
            // This Laravel does not have it.
            self::assertSame(11, (int) $process->php('return $app->version();'));

            return;
        }

        self::assertSame($class, $process->php("\$store = (function (\$app) { $code })(\$app); return \$store->lock('a', 10)::class;"));
    }

    /** By code that runs before the package's provider. */
    #[TestWith(['$app->make("cache")->store("file");', self::OURS], 'a store that there is already')]
    #[TestWith(['$app->make("cache")->extend("file", fn ($app) => $app["cache"]->repository(
        new Illuminate\Cache\FileStore($app["files"], storage_path("x"))));', self::STOCK], 'a driver that the application has replaced')]
    #[TestWith(['$app->make("cache")->extend("file", fn ($app) => $app["cache"]->repository(
        new Illuminate\Cache\FileStore($app["files"], storage_path("x")))); $app->make("cache")->store("file");',
        self::STOCK], 'the same, with a store that there is already')]
    public function testWhatWasThereBefore(string $code, string $class): void
    {
        $application = new Application(Driver::File);
        file_put_contents("$application->directory/bootstrap/app.php", <<<PHP
            <?php
            \$app = Illuminate\\Foundation\\Application::configure(basePath: dirname(__DIR__))->create();
            \$app->beforeBootstrapping(Illuminate\\Foundation\\Bootstrap\\RegisterProviders::class, function () use (\$app) {
                \$app->register(Illuminate\\Cache\\CacheServiceProvider::class);
                \$app->register(Illuminate\\Filesystem\\FilesystemServiceProvider::class);
                $code
            });
            return \$app;
            PHP);

        self::assertSame($class, self::classIn($application));
    }

    /** A repository that others have already gets the store. */
    public function testARepositoryStaysTheSameObject(): void
    {
        $application = new Application(Driver::File);
        $same = $application->start()->php('return $app->make("cache")->store() === $app->make("cache.store");');

        self::assertTrue($same);
    }

    public function testASubclassOfAStoreStaysAsItIs(): void
    {
        $process = (new Application(Driver::File))->start();
        $class = $process->php(<<<'PHP'
            class TenantFileStore extends Illuminate\Cache\FileStore {}
            class TenantManager extends Illuminate\Cache\CacheManager {
                protected function createFileDriver(array $config) {
                    return $this->repository(new TenantFileStore($this->app['files'], $config['path']), $config);
                }
            }
            $app->extend('cache', fn ($old, $app) => new TenantManager($app));
            return [$app['cache']->store('file')->getStore()::class, $app['cache']->store('file')->lock('a')::class];
            PHP);

        self::assertSame(['TenantFileStore', self::STOCK], $class);
    }

    /** Mockery's spies record what is called: nothing but what the test's own code calls. */
    public function testASpyOfTheCacheIsNotCalled(): void
    {
        $process = (new Application(Driver::File))->start();
        $answer = $process->php(<<<'PHP'
            $spy = Cache::spy();
            Cache::get('a');
            $spy->shouldHaveReceived('get')->once();
            $spy->shouldNotHaveReceived('extend');
            return $spy instanceof Illuminate\Cache\CacheManager;
            PHP);

        self::assertTrue($answer);
    }

    public function testAPrivatePropertyOfAParentIsTransplanted(): void
    {
        $process = (new Application(Driver::File))->start();
        $answer = $process->php(<<<'PHP'
            class Ground { private $deep = 1; public function deep() { return $this->deep; } public function dig() { $this->deep = 2; } }
            class Plant extends Ground { private $deep = 3; public static $count = 4; }
            class Graft extends Plant { public readonly int $unset; }
            $plant = new Plant();
            $plant->dig();
            return Latch\Laravel\Cache\Transplant::into('Graft', $plant)->deep();
            PHP);

        self::assertSame(2, $answer);
    }

    private static function classIn(Application $application): string
    {
        return $application->start()->php('return Cache::lock("a", 10)::class;');
    }
}
