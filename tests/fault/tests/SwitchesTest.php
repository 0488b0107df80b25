<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * Another server becomes the master from 1000 to 1750 ms, the aftermath included: what was answered meanwhile may be
 * lost, and nothing else.
 */
final class SwitchesTest extends TestCase
{
    private const TRAITS = 'expiring,fencing';

    /**
     * @param list<string> $expected
     */
    #[DataProvider('pairs')]
    public function testTwoWorkers(string $a, string $b, array $expected): void
    {
        foreach (['failover', 'master-kill', 'master-stop'] as $fault) {
            $tale = (new Tale())->tell('a', $a, self::TRAITS)->tell('b', $b, self::TRAITS)
                ->faults("$fault 1000 - 1500");

            self::assertSame($expected, $tale->violations(), $fault);
        }
    }

    /**
     * @return iterable<string, array{string, string, list<string>}>
     */
    public static function pairs(): iterable
    {
        $late = 'try 2000 1 1 r x try 99 | granted 2001 1 9 | held 2010 1';

        yield 'got meanwhile, it may be lost' => [
            'try 1100 1 1 r x try 2000 | granted 1101 1 5 | held 2005 1', $late, [],
        ];
        yield 'got before, it is not' => [
            'try 900 1 1 r x try 2000 | granted 999 1 5 | held 2005 1', $late, ['overlap: a #1, b #1'],
        ];
        yield 'nor when it is got afterwards' => [
            'try 1760 1 1 r x try 2000 | granted 1761 1 5 | held 2005 1', $late, ['overlap: a #1, b #1'],
        ];
        yield 'asked for before and granted meanwhile, it may be' => [
            'try 900 1 1 r x try 2000 | granted 1100 1 5 | held 2005 1', $late, [],
        ];
        yield 'renewed meanwhile, that may be' => [
            'try 900 1 1 r x try 500 | granted 901 1 5 | renew 1200 1 | renewed 1201 1 | held 1600 1',
            'try 1450 1 1 r x try 99 | granted 1451 1 9 | held 1500 1', [],
        ];
        yield 'but not what it had before' => [
            'try 900 1 1 r x try 500 | granted 901 1 5 | renew 1200 1 | renewed 1201 1 | held 1600 1',
            'try 1350 1 1 r x try 99 | granted 1351 1 9 | held 1390 1', ['overlap: a #1, b #1'],
        ];
        yield 'given back meanwhile, it may stay for its TTL' => [
            'try 900 1 1 r x try 1000 | granted 901 1 5 | release 1200 1 | released 1201 1',
            'try 2700 1 1 r x try 99 | conflict 2701 1', [],
        ];
        yield 'and no longer' => [
            'try 900 1 1 r x try 1000 | granted 901 1 5 | release 1200 1 | released 1201 1',
            'try 4000 1 1 r x try 99 | conflict 4001 1', ['lost grant: a #1, b #1'],
        ];
        yield 'given back before, it may not' => [
            'try 800 1 1 r x try 5000 | granted 801 1 5 | release 900 1 | released 901 1',
            'try 2000 1 1 r x try 99 | conflict 2001 1', ['lost grant: a #1, b #1'],
        ];
        yield 'tokens rise all the same' => [
            'try 1100 1 1 r x try 50 | granted 1101 1 9 | release 1110 1 | released 1111 1',
            'try 1900 1 1 r x try 99 | granted 1901 1 8 | held 1910 1', ['fencing: a #1, b #1'],
        ];
    }

    /** Where a master of several is replaced, that excuses nothing about the locks of the others. */
    public function testOnlyLocksOfTheMasterMayBeLost(): void
    {
        $tale = static fn (string $locks): Tale => (new Tale())
            ->tell('a', 'try 1100 1 1 r x try 2000 | granted 1101 1 5 | held 2005 1', self::TRAITS)
            ->tell('b', 'try 2000 1 1 r x try 99 | granted 2001 1 9 | held 2010 1', self::TRAITS)
            ->faults("master-kill 1000 - 1500 $locks");

        self::assertSame([], $tale('q,r')->violations());
        self::assertSame(['overlap: a #1, b #1'], $tale('q,s')->violations());
    }

    /**
     * @param list<string> $expected
     */
    #[DataProvider('harmless')]
    public function testWhereNothingIsLost(string $a, string $b, array $expected): void
    {
        foreach (['handover', 'slot-move'] as $fault) {
            $tale = (new Tale())->tell('a', $a, self::TRAITS . ',late-release')->tell('b', $b, self::TRAITS)
                ->faults("$fault 1000 - 1500");

            self::assertSame($expected, $tale->violations(), $fault);
        }
    }

    /**
     * @return iterable<string, array{string, string, list<string>}>
     */
    public static function harmless(): iterable
    {
        $meanwhile = 'try 1100 1 1 r x try 2000 | granted 1101 1 9';

        yield 'what is got meanwhile stays' => [
            "$meanwhile | held 2005 1", 'try 2000 1 1 r x try 99 | granted 2001 1 10 | held 2010 1',
            ['overlap: a #1, b #1'],
        ];
        yield 'what is renewed meanwhile, too' => [
            'try 900 1 1 r x try 500 | granted 901 1 5 | renew 1200 1 | renewed 1201 1 | held 1600 1',
            'try 1450 1 1 r x try 99 | granted 1451 1 9 | held 1500 1', ['overlap: a #1, b #1'],
        ];
        yield 'what is given back meanwhile is free' => [
            "$meanwhile | release 1200 1 | released 1201 1", 'try 1300 1 1 r x try 99 | conflict 1301 1',
            ['lost grant: a #1, b #1'],
        ];
        yield 'tokens rise' => [
            "$meanwhile | release 1200 1 | released 1201 1", 'try 1300 1 1 r x try 99 | granted 1301 1 8 | held 1310 1',
            ['fencing: a #1, b #1'],
        ];
        yield 'but a release that nobody waits for may be' => [
            "$meanwhile | drop 1200 1 | dropped 1201 1 | try 1210 2 2 q x try 99 | granted 1211 2 10",
            'try 1300 1 1 r x try 99 | conflict 1301 1', [],
        ];
    }
}
