<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * What must not be answered about versions; each with a history beside it in which it is right.
 */
final class VersionCheckTest extends TestCase
{
    private const TEN = 'call 1 1 advance r 10 0 | returned 2 1 1';

    /**
     * @param list<string> $expected
     */
    #[DataProvider('histories')]
    public function testHistory(string $a, string $b, array $expected, string $faults = ''): void
    {
        $tale = (new Tale())->call('version', 'a', $a)->call('version', 'b', $b);
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
        yield 'newer' => [self::TEN, 'call 3 1 advance r 11 0 | returned 4 1 1', []];
        yield 'older' => [self::TEN, 'call 3 1 advance r 9 0 | returned 4 1 1', ['back: a #1, b #1']];
        yield 'older, as numbers are compared' => [
            'call 1 1 advance r 100000000000000000000 0 | returned 2 1 1',
            'call 3 1 advance r 99999999999999999999 0 | returned 4 1 1',
            ['back: a #1, b #1'],
        ];
        yield 'older, of another resource' => [self::TEN, 'call 3 1 advance q 9 0 | returned 4 1 1', []];
        yield 'older, at the same time' => [self::TEN, 'call 1 1 advance r 9 0 | returned 4 1 1', []];
        yield 'older, after it was reverted' => [
            self::TEN . ' | call 3 2 revert r 10 | returned 4 2 1', 'call 5 1 advance r 9 0 | returned 6 1 1', [],
        ];
        yield 'older than what was newest before the reverted one' => [
            self::TEN . ' | call 3 2 advance r 12 0 | returned 4 2 1 | call 5 3 revert r 12 | returned 6 3 1',
            'call 7 1 advance r 9 0 | returned 8 1 1',
            ['back: a #1, b #1'],
        ];
        yield 'the same' => [
            self::TEN, 'call 3 1 advance r 10 0 | returned 4 1 1', ['back: a #1, b #1', 'twice: a #1, b #1'],
        ];
        yield 'the same at the same time' => [self::TEN, 'call 1 1 advance r 10 0 | returned 4 1 1', ['twice: a #1, b #1']];
        yield 'the same, as is allowed' => [self::TEN, 'call 3 1 advance r 10 1 | returned 4 1 1', []];
        yield 'the same once more, as it was reverted' => [
            self::TEN . ' | call 3 2 revert r 10 | returned 4 2 1', 'call 5 1 advance r 10 0 | returned 6 1 1', [],
        ];
        yield 'older, after the server has forgotten' => [
            self::TEN, 'call 5 1 advance r 9 0 | returned 6 1 1', [], 'flush-all 3 - 4',
        ];
        yield 'older, when the server is about to forget' => [
            self::TEN, 'call 3 1 advance r 9 0 | returned 6 1 1', [], 'flush-all 4 - 5',
        ];
        yield 'older, after another server became the master with it' => [
            self::TEN, 'call 5 1 advance r 9 0 | returned 600 1 1', ['back: a #1, b #1'], 'kill 1 c',
        ];
        yield 'older, after another server became the master without it' => [
            self::TEN, 'call 900 1 advance r 9 0 | returned 901 1 1', [], 'failover 0.5 - 30',
        ];
        yield 'refused as old' => [self::TEN, 'call 3 1 advance r 10 0 | returned 4 1 0', []];
        yield 'refused as newest' => [self::TEN, 'call 3 1 advance r 11 0 | returned 4 1 0', ['refused: b #1']];
        yield 'refused as the same, though that is allowed' => [
            self::TEN, 'call 3 1 advance r 10 1 | returned 4 1 0', ['refused: b #1'],
        ];
        yield 'refused as newest, before one that nobody knows the end of' => [
            'call 1 1 advance r 20 0', 'call 3 1 advance r 11 0 | returned 4 1 0', [],
        ];
        yield 'refused, sent twice' => [
            self::TEN, 'call 3 1 advance r 11 0 | returned 4 1 0', [], 'client-kill 3.5 b',
        ];
        yield 'an exception' => [self::TEN, 'call 3 1 advance r 11 0 | returned 4 1 refused x', ['refused: b #1']];
        yield 'not outdated' => [self::TEN, 'call 3 1 outdated r 10 | returned 4 1 0', []];
        yield 'not outdated, it is said' => [self::TEN, 'call 3 1 outdated r 9 | returned 4 1 0', ['back: a #1, b #1']];
        yield 'outdated' => [self::TEN, 'call 3 1 outdated r 9 | returned 4 1 1', []];
        yield 'outdated, it is said' => [self::TEN, 'call 3 1 outdated r 10 | returned 4 1 1', ['refused: b #1']];
        yield 'told' => [self::TEN, 'call 3 1 get r | returned 4 1 10', []];
        yield 'told as not known' => [self::TEN, 'call 3 1 get r | returned 4 1 -', ['back: a #1, b #1']];
        yield 'told as another one' => [self::TEN, 'call 3 1 get r | returned 4 1 11', ['untrue: b #1']];
        yield 'told before it came' => [
            'call 9 1 advance r 10 0 | returned 10 1 1', 'call 3 1 get r | returned 4 1 10', ['untrue: b #1'],
        ];
    }

    public function testWhatStaysForEver(): void
    {
        $tale = (new Tale())->call('version', 'a', self::TEN)->leftovers('key 9 latch:version:r -1 | key 9 latch:version:q 5');

        self::assertSame(['left'], $tale->callViolations());
    }

    public function testWorkerThatCrashes(): void
    {
        $tale = (new Tale())->call('version', 'a', self::TEN)->faults('ended 9 a signal-11');

        self::assertSame(['crash'], $tale->callViolations());
    }
}
