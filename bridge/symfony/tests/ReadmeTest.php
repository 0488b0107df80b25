<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Symfony\DependencyInjection\Configuration;
use Latch\Symfony\Messenger\Rule;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Config\Definition\Builder\TreeBuilder;
use Symfony\Component\Config\Definition\Processor;
use Symfony\Component\Yaml\Yaml;

/**
 * The examples of the README are code, and what they name is there.
 */
final class ReadmeTest extends TestCase
{
    /**
     * @return iterable<string, array{string}>
     */
    public static function examples(): iterable
    {
        preg_match_all('/^```php\n(.*?)^```/ms', self::text(), $blocks);
        foreach ($blocks[1] as $number => $code) {
            yield "example $number" => [$code];
        }
    }

    #[DataProvider('examples')]
    public function testAnExampleIsCode(string $code): void
    {
        token_get_all("<?php $code", \TOKEN_PARSE);
        preg_match_all('/^use (Latch\\\\[\w\\\\]+);|^    (Latch\\\\[\w\\\\]+)::class/m', $code, $names);
        foreach (array_filter([...$names[1], ...$names[2]]) as $name) {
            self::assertTrue(class_exists($name), "There is no class $name.");
        }
        preg_match_all('/(?:#\[|new )(\w+)\(([^\n]*)\)\]/', $code, $rules, \PREG_SET_ORDER);
        foreach ($rules as [, $rule, $arguments]) {
            preg_match_all('/\b(\w+): /', $arguments, $named);
            $class = "Latch\\Symfony\\Messenger\\$rule";
            self::assertTrue(is_subclass_of($class, Rule::class), "There is no rule $rule.");
            $parameters = array_column((new \ReflectionClass($class))->getConstructor()?->getParameters() ?? [], 'name');
            self::assertSame([], array_diff($named[1], $parameters));
        }
        self::assertNotSame('', $code);
    }

    public function testTheConfigurationIsTheDefaultOne(): void
    {
        preg_match_all('/^```yaml\n(.*?)^```/ms', self::text(), $blocks);
        $written = Yaml::parse(end($blocks[1]))['latch'];
        $tree = new TreeBuilder('latch');
        Configuration::describe($tree->getRootNode());
        $default = (new Processor())->process($tree->buildTree(), []);
        $default['messenger']['sync_store'] ??= 'default';

        self::assertEquals($default, $written);
    }

    public function testEachRuleHasASection(): void
    {
        foreach (glob(\dirname(__DIR__) . '/src/Messenger/*.php') as $file) {
            $name = basename($file, '.php');
            if ($name !== 'Rule' && is_subclass_of("Latch\\Symfony\\Messenger\\$name", Rule::class)) {
                self::assertStringContainsString("\n### $name\n", self::text());
            }
        }
    }

    private static function text(): string
    {
        return (string) file_get_contents(\dirname(__DIR__) . '/README.md');
    }
}
