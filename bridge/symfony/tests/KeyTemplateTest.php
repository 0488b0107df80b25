<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Symfony\Messenger\OnConflict;
use Latch\Symfony\Messenger\Rule\KeyTemplate;
use Latch\Symfony\Tests\Message\Keyed;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

final class KeyTemplateTest extends TestCase
{
    /**
     * @return iterable<string, array{string, string}>
     */
    public static function keys(): iterable
    {
        yield 'none' => ['report', 'report'];
        yield 'the class' => ['{class}', Keyed::class];
        yield 'a private property' => ['a-{secret}', 'a-s'];
        yield 'a method before a property' => ['{name}-{name}', 'method-method'];
        yield 'a getter' => ['{title}', 'got'];
        yield 'of the parent class' => ['{inherited}', 'parent'];
        yield 'an integer' => ['{number}', '7'];
        yield 'a float' => ['{ratio}', '0.1'];
        yield 'a bool' => ['{no}', '0'];
        yield 'an enum' => ['{enum}', 'skip'];
        yield 'a date' => ['{date}', '1767225600.000005'];
        yield 'a Stringable' => ['{object}', 'text'];
        yield 'what looks like another one' => ['{{secret}}', '{s}'];
    }

    #[DataProvider('keys')]
    public function testFills(string $template, string $key): void
    {
        self::assertSame($key, (new KeyTemplate())->fill($template, new Keyed()));
    }

    /**
     * @return iterable<string, array{string, string}>
     */
    public static function mistakes(): iterable
    {
        yield 'nothing of that name' => ['{other}', 'no public method other() or getOther() without parameters, and no property $other'];
        yield 'a list' => ['{list}', '{list} is array; return a string or a number from a method list() of the message'];
        yield 'null' => ['{nothing}', '{nothing} is null;'];
        yield 'a property that is not set yet' => ['{unset}', '{unset} is null;'];
        yield 'bytes' => ['{bytes}', '{bytes} is not UTF-8; use bin2hex(), for example'];
        yield 'a method with parameters' => ['{with}', 'no public method with()'];
    }

    #[DataProvider('mistakes')]
    public function testNamesTheMistake(string $template, string $message): void
    {
        $this->expectException(\LogicException::class);
        $this->expectExceptionMessage($message);
        (new KeyTemplate())->fill("a-$template", new Keyed());
    }

    public function testAValueIsThatOfOnePlaceholder(): void
    {
        $templates = new KeyTemplate();

        self::assertSame(7, $templates->value('{number}', new Keyed()));
        self::assertSame(OnConflict::Skip, $templates->value('{enum}', new Keyed()));
        self::assertSame('v7', $templates->value('v{number}', new Keyed()));
    }
}
