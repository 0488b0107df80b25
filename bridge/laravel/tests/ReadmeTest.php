<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;

/**
 * The README says what there is.
 */
final class ReadmeTest extends LaravelTestCase
{
    private const README = __DIR__ . '/../README.md';

    public function testWhatALinkNamesIsThere(): void
    {
        preg_match_all('/\]\(([^)\s#]+)/', self::readme(), $links);
        self::assertNotSame([], $links[1]);
        foreach ($links[1] as $link) {
            self::assertFileExists(\dirname(self::README) . "/$link");
        }
    }

    public function testTheTableOfSettingsIsThatOfTheFile(): void
    {
        preg_match_all('/^\|(?: `(LATCH_\w+)`)? \| `(\w+)` \| `([^`]+)` \|/m', self::readme(), $rows, \PREG_SET_ORDER);
        $settings = (new Application(Driver::File))->start()->php(<<<'PHP'
            Artisan::call('vendor:publish', ['--tag' => 'latch-config']);
            return require $app->configPath('latch.php');
            PHP);
        $code = (string) file_get_contents(__DIR__ . '/../config/latch.php');
        self::assertSame(array_keys($settings), array_column($rows, 2));
        foreach ($rows as [, $variable, $name, $default]) {
            self::assertStringContainsString($variable === '' ? "'$name' => $default" : "'$name' => env('$variable'", $code);
            $expected = $name === 'queue_path' ? 'storage/framework/cache/latch' : $settings[$name];
            $shown = \is_string($expected) ? $expected : str_replace(["array (\n)", 'NULL'], ['[]', 'null'], var_export($expected, true));
            self::assertSame($shown, $default);
        }
    }

    public function testTheExampleLocks(): void
    {
        preg_match('/```php\n(.*?)```/s', self::readme(), $example);
        $code = str_replace('// …', 'return [Cache::lock("invoice-42")->get(), $result = "done"];', $example[1], $count);
        self::assertSame(1, $count);
        $process = (new Application(Driver::File))->start();

        self::assertSame([false, 'done'], $process->php("return $code"));
        self::assertTrue($process->php('return Cache::lock("invoice-42")->get();'));
    }

    public function testTheExampleOfRedisLocks(): void
    {
        preg_match_all('/```php\n(.*?)```/s', self::readme(), $examples);
        $application = new Application(Driver::PhpRedis);
        [$process, $other] = [$application->start(), $application->start()];
        $process->php("{$examples[1][1]}; \$locks['import'] = \$lock;");
        self::assertTrue($process->call('import', 'get'));
        $other->php($examples[1][1]);

        self::assertSame($process->pid(), $other->php('return Cache::lock("import")->holder()["pid"];'));
        self::assertTrue($process->call('import', 'release'));
    }

    /** The DSN of the settings is one. */
    public function testTheExampleOfADsnIsUsed(): void
    {
        preg_match("/'default' => '(redis:[^']+)'/", self::readme(), $example);
        $dsn = (new Application(Driver::PhpRedis, settings: ['connections' => ['default' => $example[1]]]))->start()->php(
            'return $app->make(Latch\Laravel\Redis\NativeStores::class)->dsn($app->make("redis")->connection("default"));',
        );

        self::assertStringContainsString('sentinel=mymaster', $dsn);
        self::assertStringNotContainsString('password', $dsn);
    }

    public function testTheExampleOfAListenerLogsTheHolder(): void
    {
        preg_match('/```php\n(Event::.*?)```/s', self::readme(), $example);
        $application = new Application(Driver::PhpRedis);
        [$holder, $other] = [$application->start(), $application->start()];
        $holder->take($name = self::lockName(), 10);
        $other->php('class_alias("Illuminate\Support\Facades\Event", "Event"); class_alias("Illuminate\Support\Facades\Log", "Log");'
            . "$example[1] return Cache::lock(\$arguments[0])->get();", $name);

        self::assertStringContainsString("$name is held", $application->log());
        self::assertStringContainsString('"pid":' . $holder->pid(), $application->log());
    }

    public function testTheExampleOfLeasesIsFollowed(): void
    {
        preg_match("/```php\n('leases'.*?)```/s", self::readme(), $example);
        $settings = eval("return [$example[1]];");
        $process = (new Application(Driver::PhpRedis, settings: $settings))->start();
        $process->take('laravel-queue-overlap:a', 100);
        $process->take('import-a', 100);

        self::assertEqualsWithDelta(30, $process->call('laravel-queue-overlap:a', 'remaining'), 3);
        self::assertEqualsWithDelta(10, $process->call('import-a', 'remaining'), 3);
        self::assertSame(
            ['Latch\Laravel\Scheduling\EventMutex', 'Latch\Laravel\Console\CommandMutex'],
            $process->php('return [$app->make("Illuminate\Console\Scheduling\EventMutex")::class,
                $app->make("Illuminate\Console\CommandMutex")::class];'),
        );
    }

    public function testTheExampleOfLocksIsWhatTheCommandShows(): void
    {
        preg_match('/```\n(\+-.*?)```/s', self::readme(), $example);
        [, $heading] = explode("\n", $example[1]);
        $application = new Application(Driver::PhpRedis);
        $process = $application->start();
        $process->take($name = self::lockName(), 10);
        $output = $process->php('Artisan::call("latch:locks", ["--pattern" => [$arguments[0]]]); return Artisan::output();', $name);
        $words = static fn (string $line): array => preg_split('/\s*\|\s*/', trim($line, " |\n"));

        self::assertSame($words($heading), $words(explode("\n", trim($output))[1]));
    }

    /** As in composer.json, in which the README's Laravels are. */
    public function testTheRequirementsAreThoseOfComposer(): void
    {
        $require = json_decode((string) file_get_contents(__DIR__ . '/../composer.json'), true)['require'];

        self::assertSame('^11.0|^12.0|^13.0', $require['illuminate/cache']);
        self::assertSame('^8.2', $require['php']);
        self::assertStringContainsString('PHP 8.2 or newer, and Laravel 11, 12 or 13.', self::readme());
    }

    private static function readme(): string
    {
        return (string) file_get_contents(self::README);
    }
}
