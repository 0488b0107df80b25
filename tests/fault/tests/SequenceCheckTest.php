<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * What must not be answered about a sequence, whose leases last 300 ms.
 */
final class SequenceCheckTest extends TestCase
{
    private const ENTER = 'call 1 1 enter s x | returned 2 1 10 1 | call 3 2 enter s y | returned 4 2 20 0';
    private const GO = self::ENTER . ' | call 5 3 resume s 10 | returned 6 3 go';
    private const NEXT = self::GO . ' | call 9 4 next s 10 | returned 10 4 20 last:y';

    /**
     * @param list<string> $expected
     */
    #[DataProvider('histories')]
    public function testHistory(string $a, string $b, array $expected, string $faults = ''): void
    {
        $tale = (new Tale())->call('sequence', 'a', $a)->call('sequence', 'b', $b);
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
        yield 'in order' => [self::NEXT, 'end 1', []];
        yield 'held by another' => [self::GO, 'call 7 1 resume s 10 | returned 8 1 held', []];
        yield 'two at once' => [self::GO, 'call 7 1 resume s 10 | returned 8 1 go', ['overlap: a #3, b #1']];
        yield 'two at once, by next()' => [self::NEXT, 'call 11 1 next s 10 | returned 12 1 20 last:y', ['overlap: a #4, b #1']];
        yield 'at the same time as it is given back' => [
            self::GO . ' | call 7 4 back s 10 | returned 9 4 back', 'call 7.5 1 resume s 10 | returned 8 1 go', [],
        ];
        yield 'when the lease is over' => [self::GO, 'call 306 1 resume s 10 | returned 307 1 go', []];
        yield 'just before that' => [self::GO, 'call 290 1 resume s 10 | returned 291 1 go', ['overlap: a #3, b #1']];
        yield 'back' => [
            self::NEXT . ' | call 11 5 back s 20 | returned 12 5 back', 'call 13 1 resume s 10 | returned 14 1 go', ['back: a #4, b #1'],
        ];
        yield 'back, as the server has forgotten' => [
            self::NEXT . ' | call 11 5 back s 20 | returned 12 5 back',
            'call 16 1 enter s x | returned 17 1 5 1 | call 18 2 resume s 5 | returned 19 2 go',
            [],
            'flush-all 13 - 14',
        ];
        yield 'two tickets' => [self::ENTER, 'call 5 1 enter s x | returned 6 1 30 0', ['twice: a #1, b #1']];
        yield 'once more' => [self::ENTER, 'call 5 1 enter s x | returned 6 1 10 0', []];
        yield 'a later one has a lower ticket' => [self::ENTER, 'call 5 1 enter s z | returned 6 1 15 0', ['back: a #2, b #1']];
        yield 'at the same time' => [self::ENTER, 'call 3.5 1 enter s z | returned 6 1 15 0', []];
        yield 'another payload' => [str_replace('last:y', 'last:x', self::NEXT), 'end 1', ['untrue: a #4']];
        yield 'passed over' => [
            self::NEXT, 'call 3.5 1 enter s z | returned 6 1 15 0', ['passed over'],
        ];
        yield 'abandoned' => [
            self::NEXT, 'call 3.5 1 enter s z | returned 6 1 15 0 | call 7 2 abandon s | returned 8 2 - -', [],
        ];
    }
}
