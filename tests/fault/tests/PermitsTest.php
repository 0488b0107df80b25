<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * Counting semaphores: how many permits were held, and whether those that wanted some had to wait or were refused.
 */
final class PermitsTest extends TestCase
{
    private const REDIS = 'expiring,whole-seconds,late-release,first-come,exclusive-only';
    private const TWO = 'try 1 1 1 r 2/3 try 99 | granted 2 1 - | held 10 1';

    /**
     * @param list<string> $expected
     */
    #[DataProvider('holders')]
    public function testHolders(string $a, string $b, array $expected): void
    {
        self::assertSame($expected, (new Tale())->tell('a', $a, self::REDIS)->tell('b', $b, self::REDIS)->violations());
    }

    /**
     * @return iterable<string, array{string, string, list<string>}>
     */
    public static function holders(): iterable
    {
        yield 'as many as there are' => [self::TWO, 'try 1 1 1 r 1/3 try 99 | granted 3 1 - | held 9 1', []];
        yield 'one too many' => [
            self::TWO, 'try 1 1 1 r 2/3 try 99 | granted 3 1 - | held 9 1', ['too many: a #1, b #1'],
        ];
        yield 'granted without room, and over when it was told' => [
            self::TWO, 'try 3 1 1 r 2/3 try 99 | granted 9 1 -', ['too many: a #1, b #1'],
        ];
        yield 'one after the other' => [self::TWO, 'try 1 1 1 r 3/3 try 99 | granted 10 1 - | held 12 1', []];
        yield 'of other semaphores' => [self::TWO, 'try 1 1 1 q 3/3 try 99 | granted 3 1 - | held 9 1', []];
        yield 'acquired once more' => [
            'try 1 1 1 r 2/3 try 99 | granted 2 1 - | held 10 1 | try 11 2 1 r 2/3 try 99 | granted 12 2 - | held 15 2',
            'try 1 1 1 r 1/3 try 99 | granted 3 1 - | held 14 1',
            [],
        ];
        yield 'acquired once more, and others have too many' => [
            'try 1 1 1 r 2/3 try 99 | granted 2 1 - | held 10 1 | try 11 2 1 r 2/3 try 99 | granted 12 2 - | held 15 2',
            'try 11 1 1 r 2/3 try 99 | granted 13 1 - | held 14 1',
            ['too many: a #2, b #1'],
        ];
        yield 'its holder forked' => [
            'try 1 1 1 r 2/3 try 99 | granted 2 1 - | fork 3 | held 10 1',
            'try 4 1 1 r 2/3 try 99 | granted 5 1 - | held 9 1',
            ['too many: a #1, b #1'],
        ];
    }

    public function testTooManyHoldersAreFoundWhereNoTwoAre(): void
    {
        $tale = new Tale();
        foreach (['a', 'b', 'c', 'd'] as $worker) {
            $tale->tell($worker, 'try 1 1 1 r 1/3 try 99 | granted 2 1 - | held 10 1', self::REDIS);
        }

        self::assertSame(['too many: a #1, b #1, c #1, d #1'], $tale->violations());
    }

    public function testHoldEndsWhenTheServerForgets(): void
    {
        $tale = (new Tale())->faults('flush-all 5 - 6')
            ->tell('a', self::TWO, self::REDIS)
            ->tell('b', 'try 7 1 1 r 3/3 try 99 | granted 8 1 - | held 9 1', self::REDIS);

        self::assertSame([], $tale->violations());
    }

    /**
     * @param list<string> $expected
     */
    #[DataProvider('refused')]
    public function testRefused(string $a, string $b, array $expected, string $traits = self::REDIS): void
    {
        $tale = (new Tale())->tell('a', $a, $traits)->tell('b', $b, $traits);

        self::assertSame($expected, array_values(array_filter(
            $tale->violations(),
            static fn (string $violation): bool => !str_starts_with($violation, 'starvation'),
        )));
    }

    /**
     * @return iterable<string, array{0: string, 1: string, 2: list<string>, 3?: string}>
     */
    public static function refused(): iterable
    {
        $released = self::TWO . ' | release 11 1 | released 12 1';

        yield 'too few were left' => [self::TWO, 'try 5 1 1 r 2/3 try 99 | conflict 6 1', []];
        yield 'enough were left' => [self::TWO, 'try 5 1 1 r 1/3 try 99 | conflict 6 1', ['lost grant: b #1']];
        yield 'too few at the beginning' => [$released, 'try 11.5 1 1 r 2/3 try 99 | conflict 16 1', []];
        yield 'given back' => [$released, 'try 13 1 1 r 2/3 try 99 | conflict 16 1', ['lost grant: b #1']];
        yield 'killed: until a whole second after its TTL' => [
            self::TWO, 'try 1080 1 1 r 2/3 try 99 | conflict 1090 1', [],
        ];
        yield 'killed, and its time over' => [
            self::TWO, 'try 1200 1 1 r 2/3 try 99 | conflict 1210 1', ['lost grant: b #1'],
        ];
        yield 'behind a waiter that wants more' => [
            'try 1 1 1 r 3/3 wait 99 | granted 20 1 - | held 21 1', 'try 5 1 1 r 1/3 try 99 | conflict 6 1', [],
        ];
        yield 'slots that another one had for a moment' => [
            'try 1 1 1 r 3/3 try 99 | conflict 20 1', 'try 5 1 1 r 3/3 try 99 | conflict 6 1', [], 'singly,exclusive-only',
        ];
        yield 'slots that nobody had' => [
            'try 1 1 1 r 3/3 try 99 | granted 2 1 - | release 3 1 | released 4 1',
            'try 5 1 1 r 3/3 try 99 | conflict 6 1', ['lost grant: b #1'], 'singly,exclusive-only',
        ];
    }

    /**
     * @param list<string> $expected
     */
    #[DataProvider('waits')]
    public function testWaits(string $holder, string $first, string $second, array $expected): void
    {
        $tale = (new Tale())->tell('h', $holder, self::REDIS)->tell('a', $first, self::REDIS)
            ->tell('b', $second, self::REDIS);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{string, string, string, list<string>}>
     */
    public static function waits(): iterable
    {
        $one = 'try 1 1 1 r 1/3 try 9000 | granted 2 1 - | held 3000 1 | release 3000 1 | released 3001 1';
        $all = 'try 1 1 1 r 3/3 try 9000 | granted 2 1 - | held 3000 1 | release 3000 1 | released 3001 1';
        $other = 'try 1 1 1 q 1/3 try 99 | granted 2 1 - | held 3 1';

        yield 'until there is room' => [$all, 'try 5 1 1 r 3/3 wait 99 | granted 3050 1 - | held 3051 1', $other, []];
        yield 'although there is room' => [
            $one, 'try 5 1 1 r 2/3 wait 99 | granted 3050 1 - | held 3051 1', $other, ['idle: a #1'],
        ];
        yield 'for long after there is room' => [
            $all, 'try 5 1 1 r 2/3 wait 99 | granted 3900 1 - | held 3901 1', $other, ['idle: a #1'],
        ];
        yield 'too few are left for it' => [$one, 'try 5 1 1 r 3/3 wait 99 | granted 3050 1 - | held 3051 1', $other, []];
        yield 'behind one that wants more' => [
            $one,
            'try 5 1 1 r 3/3 wait 99 | granted 3050 1 - | release 3051 1 | released 3052 1',
            'try 200 1 1 r 1/3 wait 99 | granted 3060 1 - | held 3061 1',
            [],
        ];
        yield 'before one that wants more' => [
            $one,
            'try 500 1 1 r 3/3 wait 99 | granted 3050 1 - | release 3051 1 | released 3052 1',
            'try 200 1 1 r 1/3 wait 99 | granted 3040 1 - | release 3041 1 | released 3042 1',
            ['idle: b #1'],
        ];
        yield 'overtaken' => [
            $one,
            'try 5 1 1 r 3/3 wait 99 | granted 3050 1 - | release 3051 1 | released 3052 1',
            'try 700 1 1 r 1/3 wait 99 | granted 800 1 - | held 801 1 | release 802 1 | released 803 1',
            ['passed over: b #1, a #1'],
        ];
        yield 'longer than it was to' => [
            $all, 'try 5 1 1 r 3/3 100 99 | conflict 900 1 | try 3100 2 2 r 1/3 try 99 | granted 3101 2 -', $other,
            ['late: a #1'],
        ];
    }
}
