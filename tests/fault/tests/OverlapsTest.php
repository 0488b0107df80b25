<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

final class OverlapsTest extends TestCase
{
    /**
     * @param list<string> $expected
     */
    #[DataProvider('pairs')]
    public function testTwoHolds(string $a, string $b, array $expected, string $traits = 'expiring'): void
    {
        $tale = (new Tale())->tell('a', $a, $traits)->tell('b', $b, $traits);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{0: string, 1: string, 2: list<string>, 3?: string}>
     */
    public static function pairs(): iterable
    {
        $a = 'try 1 1 1 r x try 99 | granted 2 1 - | held 10 1';
        $reader = 'try 1 1 1 r s try 99 | granted 2 1 - | held 10 1';

        yield 'two writers' => [
            $a, 'try 1 1 1 r x try 99 | granted 9 1 - | held 12 1', ['overlap: a #1, b #1'],
        ];
        yield 'one within the other' => [
            $a, 'try 3 1 1 r x try 99 | granted 4 1 - | held 5 1', ['overlap: a #1, b #1'],
        ];
        yield 'a reader beside a writer' => [
            $a, 'try 1 1 1 r s try 99 | granted 9 1 - | held 12 1', ['overlap: a #1, b #1'],
        ];
        yield 'a writer beside a reader' => [
            $reader, 'try 1 1 1 r x try 99 | granted 9 1 - | held 12 1', ['overlap: a #1, b #1'],
        ];
        yield 'readers' => [$reader, 'try 1 1 1 r s try 99 | granted 9 1 - | held 12 1', []];
        yield 'one ends when the other begins' => [$a, 'try 1 1 1 r x try 99 | granted 10 1 - | held 12 1', []];
        yield 'other resources' => [$a, 'try 1 1 1 q x try 99 | granted 9 1 - | held 12 1', []];
        yield 'told too late that it is held, and not certain of it' => [$a, 'try 1 1 1 r x try 99 | granted 9 1 -', []];
        yield 'not certain, but granted while it was held' => [
            $a, 'try 3 1 1 r x try 99 | granted 9 1 -', ['overlap: a #1, b #1'],
        ];
        yield 'what was not certain any more when the other one came' => [
            "$a | release 90 1 | released 91 1", 'try 11 1 1 r x try 99 | granted 12 1 - | held 13 1', [],
        ];
        yield 'held on by a refresh' => [
            "$a | renew 10 1 | renewed 11 1 | held 100 1",
            'try 98 1 1 r x try 99 | granted 99 1 - | held 101 1',
            ['overlap: a #1, b #1'],
        ];
        yield 'killed: held until its last word' => [
            $a, 'try 10 1 1 r x try 99 | granted 11 1 - | held 12 1', [],
        ];
        yield 'a promotion ends the reading' => [
            "$reader | try 10 2 1 r x try 99 | granted 11 2 - | held 20 2",
            'try 1 1 1 r s try 99 | granted 3 1 - | held 10.5 1 | release 10.5 1 | released 10.6 1',
            [],
        ];
        yield 'a promotion beside a reader' => [
            "$reader | try 10 2 1 r x try 99 | granted 11 2 - | held 20 2",
            'try 1 1 1 r s try 99 | granted 3 1 - | held 12 1',
            ['overlap: b #1, a #2'],
        ];
        yield 'a demotion lets readers in' => [
            "$a | try 11 2 1 r s try 99 | granted 12 2 - | held 20 2",
            'try 10 1 1 r s try 99 | granted 11.5 1 - | held 15 1',
            [],
        ];
        yield 'a demotion keeps writers out' => [
            "$a | try 11 2 1 r s try 99 | granted 12 2 - | held 20 2",
            'try 10 1 1 r x try 99 | granted 11.5 1 - | held 15 1',
            ['overlap: b #1, a #2'],
        ];
    }

    public function testPromotionIsNoOverlapOfAWorkerWithItself(): void
    {
        $records = 'try 1 1 1 r s try 99 | granted 2 1 - | held 10 1 | try 10 2 1 r x try 99 | granted 10 2 - | held 20 2';

        self::assertSame([], (new Tale())->tell('a', $records, '-')->tell('b', 'end 1')->violations());
    }

    public function testSomebodyElsesIsFoundBehindOnesOwn(): void
    {
        // a's second hold ends last, but it is b that c and a are beside.
        $tale = (new Tale())
            ->tell('a', 'try 1 1 1 r s try 99 | granted 2 1 - | held 50 1', '-')
            ->tell('b', 'try 1 1 1 r x try 99 | granted 60 1 - | held 70 1', '-')
            ->tell('c', 'try 1 1 1 r s try 99 | granted 3 1 - | held 65 1', '-');

        self::assertSame(['overlap: c #1, b #1'], $tale->violations());
    }

    public function testLongHoldIsFoundBehindShortOnes(): void
    {
        $tale = (new Tale())
            ->tell('a', 'try 1 1 1 r s try 99 | granted 2 1 - | held 50 1', '-')
            ->tell('b', 'try 1 1 1 r s try 99 | granted 3 1 - | held 4 1 | release 4 1 | released 4 1', '-')
            ->tell('c', 'try 1 1 1 r x try 99 | granted 40 1 - | held 41 1', '-');

        self::assertSame(['overlap: a #1, c #1'], $tale->violations());
    }
}
