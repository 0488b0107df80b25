<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Symfony\DependencyInjection\Configuration;
use Latch\Symfony\Messenger\HandlerLocks;
use Latch\Symfony\Messenger\LockedMessage;
use Latch\Symfony\Messenger\Plan;
use Latch\Symfony\Messenger\Rule;
use Latch\Symfony\Tests\Support\Page;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Config\Definition\Builder\TreeBuilder;
use Symfony\Component\Config\Definition\Processor;
use Symfony\Component\Yaml\Yaml;

/**
 * The README and the pages of docs/: what they name is there. Their examples are run by ExamplesTest.
 */
final class ReadmeTest extends TestCase
{
    private const HEADINGS = ['When to use it', 'Example', 'Parameters', 'What happens', 'What a crash does to it', 'Limits'];

    /**
     * @return iterable<string, array{Page}>
     */
    public static function pages(): iterable
    {
        foreach (Page::all() as $page) {
            yield $page->name => [$page];
        }
    }

    /**
     * @return iterable<string, array{class-string}>
     */
    public static function rules(): iterable
    {
        foreach (glob(\dirname(__DIR__) . '/src/Messenger/*.php') ?: [] as $file) {
            $class = 'Latch\\Symfony\\Messenger\\' . basename($file, '.php');
            if (\in_array($class, [HandlerLocks::class, LockedMessage::class, Plan::class], true) || is_subclass_of($class, Rule::class)) {
                yield $class => [$class];
            }
        }
    }

    #[DataProvider('pages')]
    public function testWhatALinkNamesIsThere(Page $page): void
    {
        preg_match_all('/\[[^\]]+\]\(([^)\s]+)\)/', $page->prose(), $links);
        self::assertNotSame([], $links[1], 'It leads nowhere.');
        foreach ($links[1] as $link) {
            if (!str_starts_with($link, 'https://')) {
                [$file, $anchor] = [...explode('#', $link), ''];
                $target = $file === '' ? $page : new Page(\dirname($page->path) . "/$file");
                self::assertFileExists($target->path, $link);
                self::assertContains($anchor, ['', ...$target->anchors()], $link);
            }
        }
    }

    #[DataProvider('pages')]
    public function testNamesOfClassesAndFilesAreReal(Page $page): void
    {
        preg_match_all('/\bLatch(?:\\\\\w+)+/', $page->text(), $names);
        foreach (array_unique($names[0]) as $name) {
            self::assertTrue(
                class_exists($name) || interface_exists($name) || is_dir(\dirname(__DIR__) . '/src/' . strtr(substr($name, 14), '\\', '/')),
                "There is no $name.",
            );
        }
        self::assertSame([], array_filter(explode("\n", $page->prose()), static fn (string $line): bool => !str_starts_with($line, '|') && mb_strlen($line) > 120));
    }

    #[DataProvider('pages')]
    public function testItsConfigurationIsAccepted(Page $page): void
    {
        foreach ($page->blocks('yaml') as $yaml) {
            $written = Yaml::parse($yaml);
            if (array_keys($written) === ['framework']) {
                continue; // Symfony's own
            }
            foreach ([$written, ...array_values(array_diff_key($written, ['latch' => true]))] as $configuration) {
                self::assertArrayHasKey('stores', $this->processed($configuration['latch']));
            }
        }
        self::assertStringEndsNotWith("\n\n", $page->text());
    }

    public function testTheConfigurationIsTheDefaultOne(): void
    {
        $default = $this->processed([]);
        $default['messenger']['sync_store'] ??= 'default';

        self::assertEquals($default, Yaml::parse(Page::of('configuration')->blocks('yaml')[0])['latch']);
    }

    /** @param class-string $class */
    #[DataProvider('rules')]
    public function testARuleHasAPage(string $class): void
    {
        $page = Page::ofClass($class);

        self::assertSame(self::HEADINGS, $page->headings());
        self::assertStringContainsString("](docs/$page->name.md) |", (new Page(\dirname(__DIR__) . '/README.md'))->text());
    }

    /** @param class-string $class */
    #[DataProvider('rules')]
    public function testItsParametersAreTheWrittenOnes(string $class): void
    {
        $expected = [];
        foreach (is_subclass_of($class, Rule::class) ? (new \ReflectionMethod($class, '__construct'))->getParameters() : [] as $parameter) {
            $default = $parameter->isDefaultValueAvailable() ? $parameter->getDefaultValue() : null;
            $expected[$parameter->getName()] = match (true) {
                !$parameter->isDefaultValueAvailable() => '',
                $default === null => '`null`',
                $default instanceof \BackedEnum => "`'$default->value'`",
                default => '`' . var_export($default, true) . '`',
            };
        }
        preg_match_all('/^\| `(\w+)` \| [^|]* \| ([^|]*) ?\| /m', Page::ofClass($class)->section('Parameters'), $rows);

        self::assertSame($expected, array_combine($rows[1], array_map(trim(...), $rows[2])));
    }

    public function testThePlanIsWhole(): void
    {
        $expected = [];
        foreach ((new \ReflectionClass(Plan::class))->getMethods(\ReflectionMethod::IS_PUBLIC) as $method) {
            if (!\in_array($method->name, ['__construct', 'reset'], true)) {
                $expected[] = $method->name . '(' . implode(', ', array_map(
                    static fn (\ReflectionParameter $parameter): string => ($parameter->isVariadic() ? '...$' : '$') . $parameter->name,
                    $method->getParameters(),
                )) . ')';
            }
        }
        preg_match_all('/^\| `(\w+\([^`]*\))` \|/m', Page::of('plan')->section('Parameters'), $rows);

        self::assertSame($expected, array_values(array_unique($rows[1])));
    }

    /**
     * @param array<mixed>|string $configuration
     *
     * @return array<mixed>
     */
    private function processed(array|string $configuration): array
    {
        $tree = new TreeBuilder('latch');
        Configuration::describe($tree->getRootNode());

        return (new Processor())->process($tree->buildTree(), [$configuration]);
    }
}
