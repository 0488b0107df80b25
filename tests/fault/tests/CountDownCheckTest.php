<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * What must not be answered about a count-down: of two members, a and b, and a claim of 50 ms.
 */
final class CountDownCheckTest extends TestCase
{
    private const OPEN = 'call 1 1 open g a,b last | returned 2 1 1';
    private const FIRST = self::OPEN . ' | call 3 2 arrive g a 0 50 2 last | returned 4 2 1 -';
    /** The last one, to which the payload is given. */
    private const LAST = 'call 5 1 arrive g b 0 50 2 last | returned 6 1 0 last';
    private const DONE = self::LAST . ' | call 7 2 done g | returned 8 2 done';

    /**
     * @param list<string> $expected
     */
    #[DataProvider('histories')]
    public function testHistory(string $a, string $b, array $expected, string $faults = ''): void
    {
        $tale = (new Tale())->call('count-down', 'a', $a)->call('count-down', 'b', $b);
        if ($faults !== '') {
            $tale->faults($faults);
        }

        self::assertSame($expected, $tale->callViolations());
    }

    /**
     * @return iterable<string, array{0: string, 1: string, 2: list<string>, 3?: string}>
     */
    public static function histories(): iterable
    {
        $again = static fn (float $time, string $answer, int $number = 3): string => sprintf(
            ' | call %s %d arrive g a 0 50 2 last | returned %s %d %s', $time, $number, $time + 1, $number, $answer,
        );

        yield 'done' => [self::FIRST, self::DONE, []];
        yield 'given before all were there' => [
            self::OPEN . ' | call 3 2 arrive g a 0 50 2 last | returned 4 2 0 last', 'end 1', ['untrue: a #2'],
        ];
        yield 'given with members left' => [
            self::OPEN . ' | call 3 2 arrive g a 0 50 2 last | returned 4 2 1 last', 'end 1', ['untrue: a #2'],
        ];
        yield 'another payload' => [self::FIRST, str_replace('6 1 0 last', '6 1 0 lasting', self::LAST), ['untrue: b #1']];
        yield 'given to none' => [self::FIRST, str_replace('6 1 0 last', '6 1 0 -', self::LAST), ['refused: b #1']];
        yield 'given to none, as one that was killed may have it' => [
            self::FIRST . ' | call 4.5 3 arrive g b 0 50 2 last', str_replace('6 1 0 last', '6 1 0 -', self::LAST), [],
        ];
        yield 'not given while it is claimed' => [self::FIRST . $again(30, '0 -'), self::LAST, []];
        yield 'given while it is claimed' => [self::FIRST . $again(30, '0 last'), self::LAST, ['twice: b #1, a #3']];
        yield 'given to two at once' => [self::FIRST . $again(5.1, '0 last'), self::LAST, ['twice: b #1, a #3']];
        yield 'given when the claim is over' => [self::FIRST . $again(60, '0 last'), self::LAST, []];
        yield 'not given when the claim is over' => [self::FIRST . $again(70, '0 -'), self::LAST, ['refused: b #1, a #3']];
        yield 'not given when it is done' => [self::FIRST . $again(70, '0 -'), self::DONE, []];
        yield 'given when it is done' => [self::FIRST . $again(70, '0 last'), self::DONE, ['twice: b #2, a #3']];
        yield 'arrived twice' => [self::FIRST . $again(4.5, '1 -'), self::DONE, []];
        yield 'counted twice' => [
            self::FIRST . $again(4.5, '0 last'), 'end 1', ['untrue: a #3'],
        ];
        yield 'not counted' => [self::FIRST, 'call 5 1 arrive g b 0 50 2 last | returned 6 1 1 -', ['untrue: b #1']];
        yield 'failed' => [
            str_replace('arrive g a 0', 'arrive g a 1', self::FIRST), str_replace('6 1 0 last', '6 1 0 last a', self::LAST), [],
        ];
        yield 'has not failed' => [self::FIRST, str_replace('6 1 0 last', '6 1 0 last a', self::LAST), ['untrue: b #1']];
        yield 'open' => [self::FIRST, 'call 3 1 open g a,b last | returned 4 1 0', []];
        yield 'opened twice' => [
            self::OPEN, 'call 3 1 open g a,b last | returned 4 1 1', ['twice: b #1, a #1', 'twice: a #1, b #1'],
        ];
        yield 'not opened' => ['end 1', 'call 3 1 open g a,b last | returned 4 1 0', ['untrue: b #1']];
        yield 'not there any more' => [
            self::FIRST, 'call 5 1 arrive g b 0 50 2 last | returned 6 1 refused x', ['refused: a #1, b #1'],
        ];
        yield 'not there any more, as the server has forgotten' => [
            self::FIRST, 'call 9 1 arrive g b 0 50 2 last | returned 10 1 refused x', [], 'flush-all 7 - 8',
        ];
        yield 'opened again, as the server has forgotten' => [
            self::FIRST, 'call 9 1 open g a,b last | returned 10 1 1', [], 'flush-all 7 - 8',
        ];
        yield 'given again, as the server has forgotten' => [
            self::FIRST,
            self::DONE . ' | call 29 3 open g a,b last | returned 30 3 1'
                . ' | call 31 4 arrive g a 0 50 2 last | returned 32 4 1 -'
                . ' | call 33 5 arrive g b 0 50 2 last | returned 34 5 0 last',
            [],
            'flush-all 20 - 21',
        ];
        yield 'opened again, as the server had forgotten when it was done' => [
            self::FIRST . ' | call 31 3 inspect g | returned 32 3 open',
            self::DONE . ' | call 29 3 open g a,b last | returned 30 3 1',
            [],
            'flush-all 6.3 - 6.6',
        ];
        yield 'not done, as it was opened anew' => [
            self::FIRST . ' | call 29 3 open g a,b last | returned 30 3 1',
            self::LAST . ' | call 31 2 done g | returned 32 2 refused x',
            [],
            'flush-all 20 - 21',
        ];
        yield 'not done, though all are there' => [
            self::FIRST, self::LAST . ' | call 7 2 done g | returned 8 2 refused x', ['refused: a #1, b #2'],
        ];
        yield 'said to be done' => [self::FIRST . ' | call 9 3 inspect g | returned 10 3 done', self::DONE, []];
        yield 'said to be done before' => [
            self::FIRST . ' | call 6 3 inspect g | returned 6.5 3 done', self::DONE, ['untrue: a #3'],
        ];
        yield 'said not to be done' => [
            self::FIRST . ' | call 9 3 inspect g | returned 10 3 arrived', self::DONE, ['back: b #2, a #3'],
        ];
        yield 'awaited' => [self::FIRST . ' | call 5 3 await g 9 | returned 10 3 1', self::DONE, []];
        yield 'awaited in vain' => [self::FIRST . ' | call 9 3 await g 9 | returned 19 3 0', self::DONE, ['back: b #2, a #3']];
        yield 'awaited for nothing' => [
            self::FIRST . ' | call 5 3 await g 9 | returned 6 3 1', 'end 1', ['untrue: a #3'],
        ];
    }
}
