<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

use PHPUnit\Framework\Attributes\DataProvider;

/**
 * A container that Symfony has compiled without Latch, and that includes the files of the classes that it uses,
 * whether they exist or not: in debug mode always, in production by an option. Latch is switched on and off
 * while nobody empties a cache: all processes share that container, and opcache's files.
 */
final class ContainerOfBeforeTest extends AppTestCase
{
    /**
     * @return iterable<string, array{array<string, string>}>
     */
    public static function kernels(): iterable
    {
        yield 'in debug mode' => [['APP_ENV' => 'dev', 'APP_DEBUG' => '1']];
        yield 'in production, with the inline class loader' => [['APP_ENV' => 'inlined', 'APP_DEBUG' => '0']];
    }

    /**
     * @param array<string, string> $kernel
     */
    #[DataProvider('kernels')]
    public function testCommandsRunWithLatchWithoutAndMixed(array $kernel): void
    {
        $environment = $this->compileWithoutLatch($kernel);
        $container = $this->container($environment);
        foreach ([true, false, true, false] as $step => $latch) {
            $other = $step < 2;
            $editor = $this->app->console($latch, "app:edit $step --store=quorum --ttl=1800", $environment);
            self::assertSame('Go on: 30 min.', $editor->hear());
            $refused = $this->app->console($other, "app:edit $step --store=quorum --ttl=1800", $environment);
            self::assertSame(['Somebody else edits it.', 'exit code 1'], $refused->finish());
            self::assertSame(['Left.'], $editor->finish());
            $report = $this->app->console($latch, "app:report $step", $environment);
            self::assertSame(['The report begins.', 'The report is ready.'], $report->finish());
        }
        self::assertSame($container, $this->container($environment), 'It was compiled anew.');
    }

    /**
     * @param array<string, string> $kernel
     */
    #[DataProvider('kernels')]
    public function testWebServersAnswerWithLatchWithoutAndMixed(array $kernel): void
    {
        $environment = $this->compileWithoutLatch($kernel);
        $container = $this->container($environment);
        $servers = [];
        foreach ([true, false, true] as $number => $latch) {
            $servers[$number] = $this->app->web($latch, $environment);
        }
        foreach ([0, 1, 2, 1, 0] as $turn => $number) {
            self::assertSame(
                "202: Article $turn will be published.",
                $servers[$number]->post("/articles/$turn/publish"),
            );
            self::assertSame(
                "423: Article $turn is being published.",
                $servers[($number + 1) % 3]->post("/articles/$turn/publish"),
            );
        }
        $this->app->redis->command('FLUSHALL'); // the locks, which the worker would release
        self::assertSame($container, $this->container($environment), 'It was compiled anew.');
    }

    /**
     * @param array<string, string> $kernel
     */
    #[DataProvider('kernels')]
    public function testTheCacheIsClearedWithLatchAndWithout(array $kernel): void
    {
        $environment = $this->compileWithoutLatch($kernel);
        foreach ([true, true, false, true] as $step => $latch) {
            self::assertSame([], $this->app->console($latch, 'cache:clear -q', $environment)->finish());
            foreach ([false, true] as $reader) {
                $report = $this->app->console($reader, "app:report $step", $environment);
                self::assertSame(['The report begins.', 'The report is ready.'], $report->finish());
            }
        }
    }

    /**
     * @param array<string, string> $kernel
     *
     * @return array<string, string> the environment with which processes use that container
     */
    private function compileWithoutLatch(array $kernel): array
    {
        $cache = "{$this->app->directory}/var/cache/before-" . bin2hex(random_bytes(6));
        $environment = $kernel + ['APP_CACHE_DIR' => $cache];
        self::assertSame([], $this->app->console(false, 'cache:clear -q', $environment)->finish());
        $code = implode('', array_map(file_get_contents(...), $this->container($environment)));
        foreach (['psr/log/src/LoggerAwareInterface', 'symfony/lock/LockFactory'] as $name) {
            self::assertSame(1, preg_match("~include_once .*/$name\\.php'~", $code), "It does not include $name.");
        }

        return $environment;
    }

    /**
     * @param array<string, string> $environment
     *
     * @return list<string> the files of the compiled container, whose folder has another name each time
     */
    private function container(array $environment): array
    {
        return (array) glob("$environment[APP_CACHE_DIR]/$environment[APP_ENV]/Container*/*.php");
    }
}
