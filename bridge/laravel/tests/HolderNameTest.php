<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * The holder of a lock is known by the job or command that its process works on.
 */
final class HolderNameTest extends LaravelTestCase
{
    /** Jobs on the queue "sync", of which one starts another one, and one fails. */
    private const JOBS = <<<'PHP'
        namespace App\Jobs {
            class Failing implements \Illuminate\Contracts\Queue\ShouldQueue { use \Illuminate\Foundation\Bus\Dispatchable;
                public function handle() { \names(); throw new \RuntimeException('x'); } }
            class Queued implements \Illuminate\Contracts\Queue\ShouldQueue { use \Illuminate\Foundation\Bus\Dispatchable;
                public function handle() { \names(); Failing::dispatch(); } }
        }
        namespace {
            function names() {
                $lock = Cache::lock('job-' . random_int(0, PHP_INT_MAX), 10);
                $lock->get();
                $GLOBALS['names'][] = method_exists($lock, 'holder') ? $lock->holder()['script'] : ini_get('latch.holder_name');
                $lock->release();
            }
        }
        PHP;

    #[TestWith([Driver::PhpRedis])]
    #[TestWith([Driver::Predis])]
    #[TestWith([Driver::File])]
    public function testAJobIsNamedWhileItRuns(Driver $driver): void
    {
        $application = new Application($driver, ['QUEUE_CONNECTION' => 'sync']);
        file_put_contents("$application->directory/jobs.php", '<?php ' . str_replace('Cache::', '\Illuminate\Support\Facades\Cache::', self::JOBS));
        $names = $application->start()->php(<<<'PHP'
            require base_path('jobs.php');
            ini_set('latch.holder_name', 'before');
            names();
            try {
                App\Jobs\Queued::dispatch();
            } catch (RuntimeException) {
            }
            names();
            return $GLOBALS['names'];
            PHP);

        self::assertSame(['before', 'queue: App\Jobs\Queued', 'queue: App\Jobs\Failing', 'before'], $names);
    }

    public function testAWorkerNamesItsJobs(): void
    {
        $application = new Application(Driver::Sqlite, ['QUEUE_CONNECTION' => 'database']);
        file_put_contents("$application->directory/jobs.php", '<?php ' . str_replace('Cache::', '\Illuminate\Support\Facades\Cache::', self::JOBS));
        $process = $application->start();
        $names = $process->php(<<<'PHP'
            require base_path('jobs.php');
            foreach (['queue-table', 'queue-failed-table'] as $table) {
                Artisan::call("make:$table");
            }
            Artisan::call('migrate', ['--force' => true]);
            App\Jobs\Queued::dispatch();
            $app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);
            ini_set('latch.holder_name', 'before');
            Artisan::call('queue:work', ['--stop-when-empty' => true, '--tries' => 2]);
            names();
            return [$GLOBALS['names'], DB::table('failed_jobs')->count()];
            PHP);

        self::assertSame([['queue: App\Jobs\Queued', 'queue: App\Jobs\Failing', 'queue: App\Jobs\Failing', 'before'], 1], $names);
    }

    public function testACommandIsNamedWhileItRuns(): void
    {
        // In "testing" Laravel has no events of commands.
        $application = new Application(Driver::PhpRedis, ['APP_ENV' => 'local']);
        $names = $application->start()->php(<<<'PHP'
            $names = function () {
                $lock = Cache::lock('command-' . random_int(0, PHP_INT_MAX), 10);
                $lock->get();
                $GLOBALS['names'][] = $lock->holder()['script'];
            };
            Artisan::command('shop:import', $names);
            ini_set('latch.holder_name', 'before');
            $kernel = $app->make(Illuminate\Contracts\Console\Kernel::class);
            $kernel->handle(new Symfony\Component\Console\Input\ArrayInput(['command' => 'shop:import']),
                new Symfony\Component\Console\Output\NullOutput());
            $names();
            return $GLOBALS['names'];
            PHP);

        self::assertSame(['artisan: shop:import', 'before'], $names);
    }

    public function testAProcessThatHasANameByItsConfigurationKeepsIt(): void
    {
        $application = new Application(Driver::PhpRedis, ['QUEUE_CONNECTION' => 'sync']);
        file_put_contents("$application->directory/jobs.php", '<?php ' . str_replace('Cache::', '\Illuminate\Support\Facades\Cache::', self::JOBS));
        $names = $application->start('latch.holder_name=blue worker')->php(<<<'PHP'
            require base_path('jobs.php');
            try {
                App\Jobs\Failing::dispatch();
            } catch (RuntimeException) {
            }
            return $GLOBALS['names'];
            PHP);

        self::assertSame(['blue worker'], $names);
    }
}
