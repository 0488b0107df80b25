<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Tests\Support\DocumentTestCase;
use Latch\Tests\Support\Examples;

/**
 * The commands of docs/install.md are run by the stage "install" on fresh systems, which fails for one that it does not
 * run. Here is what is no command, and what takes tools that no test has: Docker, PIE.
 */
final class InstallTest extends DocumentTestCase
{
    private const ROOT = __DIR__ . '/../../../..';

    protected static function page(): string
    {
        return 'docs/install.md';
    }

    public function testCommandsAreWalked(): void
    {
        $walk = (string) file_get_contents(self::ROOT . '/tools/lib/stages/install.sh');
        $named = [
            'PECL' => $this->lines('pecl-1.sh'),
            'Without PECL' => $this->lines('without-pecl-1.sh'),
            'From source' => $this->lines('from-source-1.sh'),
            'Debian and Ubuntu' => $this->lines('debian-and-ubuntu-1.sh'),
            'Other systems with a folder for .ini files' => $this->lines('other-systems-with-a-folder-for-ini-files-1.sh'),
            'Looking whether it works' => $this->lines('looking-whether-it-works-1.sh'),
            'After an installation by PECL' => $this->lines('after-an-installation-by-pecl-1.sh'),
            'After an installation from source' => $this->lines('after-an-installation-from-source-1.sh'),
        ];
        foreach ($named as $heading => $lines) {
            self::assertNotSame([], $lines);
            self::assertMatchesRegularExpression(
                '/commands "\$PAGE" \'?' . preg_quote($heading, '/') . '\'?$/m',
                $walk,
            );
        }
    }

    public function testTheManifestsAreThoseThatAreNamed(): void
    {
        $name = static fn (string $file): string => json_decode(
            (string) file_get_contents(self::ROOT . "/$file"),
            true,
            flags: \JSON_THROW_ON_ERROR,
        )['name'];

        self::assertSame('pie install ' . $name('composer.json') . ':@dev', $this->lines('pie-1.sh')[1]);
        self::assertSame(
            'composer require --dev ' . $name('stubs/composer.json') . ':@dev',
            $this->lines('for-ides-phpstan-and-psalm-1.sh')[1],
        );
    }

    public function testAnalysersFindWhatIsNamed(): void
    {
        self::assertSame(1, preg_match('~/(stubs/\S+)$~m', $this->text('for-ides-phpstan-and-psalm-2.neon'), $match));
        self::assertFileExists(self::ROOT . "/$match[1]");

        $plugin = (string) simplexml_load_string($this->text('for-ides-phpstan-and-psalm-3.xml'))->pluginClass['class'];
        $class = substr((string) strrchr($plugin, '\\'), 1);
        self::assertStringContainsString(
            "class $class ",
            (string) file_get_contents(self::ROOT . "/stubs/$class.php"),
        );
    }

    public function testImagesAreMadeOfPackagesThatThePageNames(): void
    {
        $images = [
            $this->text('docker-s-php-images-1.dockerfile'),
            $this->text('what-must-stay-installed-1.dockerfile'),
        ];
        foreach ($images as $text) {
            $commands = (string) preg_replace('/^(FROM|COPY) .*$/m', '', str_replace('RUN ', '', $text));
            $this->shellSaid('sh -n -c ' . escapeshellarg($commands));
            preg_match_all('/\b(lib[\w.-]+|pkgconf)\b/', $commands, $packages);
            self::assertNotSame([], $packages[1]);
            foreach ($packages[1] as $package) {
                self::assertStringContainsString("`$package`", Examples::text(self::page()));
            }
        }
    }
}
