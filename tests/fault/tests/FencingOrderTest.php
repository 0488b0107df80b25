<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

final class FencingOrderTest extends TestCase
{
    /**
     * @param list<string> $expected
     */
    #[DataProvider('stories')]
    public function testTokens(string $a, string $b, array $expected): void
    {
        self::assertSame($expected, (new Tale())->tell('a', $a)->tell('b', $b)->violations());
    }

    /**
     * @return iterable<string, array{string, string, list<string>}>
     */
    public static function stories(): iterable
    {
        $first = 'try 1 1 1 r x try 9 | granted 2 1 7 | held 5 1 | release 6 1 | released 7 1';
        $second = static fn (int $token): string => "try 8 1 1 r x try 9 | granted 9 1 $token | held 10 1";

        yield 'higher' => [$first, $second(8), []];
        yield 'much higher' => [$first, $second(1_700_000_000_000_000), []];
        yield 'the same' => [$first, $second(7), ['fencing: a #1, b #1']];
        yield 'lower' => [$first, $second(6), ['fencing: a #1, b #1']];
        yield 'lower, on another resource' => [$first, strtr($second(6), ['r x' => 'q x']), []];
        yield 'lower than one before the last' => [
            "$first | try 7 2 2 r x try 9 | granted 7.1 2 2 | held 7.2 2 | release 7.3 2 | released 7.4 2",
            $second(3),
            ['fencing: a #1, a #2', 'fencing: a #1, b #1'],
        ];
        yield 'lower, though it was tried for before; both were certain' => [
            $first, 'try 1 1 1 r x wait 9 | granted 9 1 6 | held 10 1', ['fencing: a #1, b #1'],
        ];
        yield 'in no order, since one learnt too late that it had it' => [
            $first, 'try 1 1 1 r x try 9 | granted 9 1 6', [],
        ];
        yield 'the same in no order' => [
            $first, 'try 1 1 1 r x try 9 | granted 9 1 7', ['fencing: a #1, b #1'],
        ];
        yield 'the same in one hold' => [
            'try 1 1 1 r x try 9 | granted 2 1 7 | held 3 1 | try 4 2 1 r x try 9 | granted 5 2 7 | held 6 2 '
                . '| renew 7 2 | renewed 8 2 | held 9 2',
            'end 1',
            [],
        ];
        yield 'the same after a time as reader' => [
            'try 1 1 1 r x try 9 | granted 2 1 7 | held 3 1 | try 4 2 1 r s try 9 | granted 5 2 - | held 6 2 '
                . '| try 7 3 1 r x try 9 | granted 8 3 7 | held 9 3',
            'end 1',
            ['fencing: a #1, a #3'],
        ];
        yield 'a reader with one' => ['try 1 1 1 r s try 9 | granted 2 1 7 | held 5 1', 'end 1', ['fencing: a #1']];
        yield 'a writer without one' => ['try 1 1 1 r x try 9 | granted 2 1 - | held 5 1', 'end 1', ['fencing: a #1']];
    }

    public function testWhoHasNoTokensNeedsNone(): void
    {
        $tale = (new Tale())->tell('a', 'try 1 1 1 r x try 9 | granted 2 1 - | held 5 1', 'expiring');

        self::assertSame([], $tale->violations());
    }
}
