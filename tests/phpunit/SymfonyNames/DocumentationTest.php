<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyNames;

use Latch\Tests\Support\Subject;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

/**
 * The table of classes in docs/symfony.md is complete and true.
 */
final class DocumentationTest extends TestCase
{
    /**
     * @return array<string, string> who provides the class, by its name
     */
    private static function table(): array
    {
        $text = (string) file_get_contents(\dirname(__DIR__, 3) . '/docs/symfony.md');
        preg_match_all('/^\| `([A-Z][\w\\\\]+)` \| (.+?) \|/m', $text, $rows);

        return array_combine($rows[1], $rows[2]);
    }

    #[TestWith(['LATCH_SYMFONY_6'])]
    #[TestWith(['LATCH_VENDOR'])]
    #[TestWith(['LATCH_SYMFONY_8'])]
    public function testEveryClassOfThePackageIsInTheTable(string $variable): void
    {
        $vendor = getenv($variable);
        self::assertNotFalse($vendor, "$variable must name a vendor folder with symfony/lock.");
        $files = new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator("$vendor/symfony/lock"));
        $classes = [];
        foreach (new \RegexIterator($files, '/\.php$/') as $file) {
            $classes[] = strtr(substr($file->getPathname(), \strlen("$vendor/symfony/lock/"), -4), '/', '\\');
        }

        self::assertContains('Store\FlockStore', $classes);
        self::assertSame([], array_values(array_diff($classes, array_keys(self::table()))));
    }

    /**
     * @return iterable<string, array{string, string}>
     */
    public static function rows(): iterable
    {
        foreach (self::table() as $class => $provider) {
            yield $class => [$class, $provider];
        }
    }

    #[DataProvider('rows')]
    public function testTheTableSaysWhoProvidesAClass(string $class, string $provider): void
    {
        $found = new \ReflectionClass(Subject::SYMFONY . $class);

        self::assertSame($found->isInternal() ? 'native' : "Composer's", $provider);
        self::assertSame($found->isInternal(), \in_array($class, [...Subject::CLASSES, ...Subject::UNLIKE], true));
        if ($found->isInternal()) {
            self::assertSame('latch', $found->getExtensionName());
        } else {
            self::assertStringContainsString('/symfony/lock/', (string) $found->getFileName());
        }
    }
}
