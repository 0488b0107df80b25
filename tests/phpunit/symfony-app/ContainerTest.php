<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

/**
 * The application as a whole, with the setting on and off.
 */
final class ContainerTest extends AppTestCase
{
    public function testOneOfThemIsOnLatch(): void
    {
        $names = ['Lock', 'Key', 'LockFactory', 'Store\FlockStore'];
        foreach ([[false, ''], [true, 'latch']] as [$latch, $extension]) {
            foreach ($names as $name) {
                $code = "echo (new ReflectionClass('Symfony\\Component\\Lock\\$name'))->getExtensionName();";
                self::assertSame($extension, $this->app->evaluate($latch, $code), $name);
            }
        }
    }

    public function testTheContainerIsInOrder(): void
    {
        $said = $this->app->console(false, 'lint:container')->finish();
        self::assertStringContainsString('[OK]', $said[0]);
        self::assertSame($said, $this->app->console(true, 'lint:container')->finish());
    }

    public function testTheContainerIsTheSameWhetherItIsMadeWithLatchOrWithout(): void
    {
        self::assertSame($this->container(false), $this->container(true));
    }

    /**
     * What lists the files of the classes is not compared: of Latch's there are none.
     *
     * @return array<string, string> the names of its files, and a digest of what is in each
     */
    private function container(bool $latch): array
    {
        $cache = "{$this->app->directory}/var/cache/container-" . ($latch ? 'with' : 'without');
        $process = $this->app->console($latch, 'cache:clear -q', ['APP_CACHE_DIR' => $cache]);
        self::assertSame([], $process->finish());
        $files = [];
        $entries = new \RecursiveIteratorIterator(
            new \RecursiveDirectoryIterator($cache, \FilesystemIterator::SKIP_DOTS),
        );
        foreach ($entries as $entry) {
            if (preg_match('/\.meta(\.json)?$|\.preload\.php$/', $entry->getPathname()) === 1) {
                continue;
            }
            $text = str_replace($cache, 'CACHE', (string) file_get_contents($entry->getPathname()));
            $files[substr($entry->getPathname(), \strlen($cache))] = hash('xxh128', $text);
        }
        ksort($files);

        return $files;
    }
}
