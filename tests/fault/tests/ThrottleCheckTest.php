<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * What must not happen at throttles: steps of 100 ms.
 */
final class ThrottleCheckTest extends TestCase
{
    /**
     * @param list<string> $expected
     */
    #[DataProvider('histories')]
    public function testHistory(string $a, string $b, array $expected, string $faults = ''): void
    {
        $tale = (new Tale())->call('throttle', 'a', $a)->call('throttle', 'b', $b);
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
        $try = static fn (float $time, int $number, string $result, int $burst = 1): string => sprintf(
            'call %s %d acquire r try 100000 %d | returned %s %d %s', $time, $number, $burst, $time + 1, $number, $result,
        );
        $one = $try(1, 1, '1');

        yield 'a step apart' => [$one, $try(102, 1, '1'), []];
        yield 'less than a step apart' => [$one, $try(90, 1, '1'), ['too many: a #1']];
        yield 'at throttles of their own' => [$one, str_replace(' r ', ' q ', $try(90, 1, '1')), []];
        yield 'perhaps a step apart' => [
            'call 1 1 acquire r wait 100000 1 | returned 120 1 1', 'call 2 1 acquire r wait 100000 1 | returned 110 1 1', [],
        ];
        yield 'a burst' => [$try(1, 1, '1', 3) . '|' . $try(3, 2, '1', 3), $try(5, 1, '1', 3), []];
        yield 'more than a burst' => [
            $try(1, 1, '1', 3) . '|' . $try(3, 2, '1', 3), $try(5, 1, '1', 3) . '|' . $try(9, 2, '1', 3), ['too many: a #1'],
        ];
        yield 'a burst and a step' => [
            $try(1, 1, '1', 3) . '|' . $try(3, 2, '1', 3), $try(5, 1, '1', 3) . '|' . $try(101, 2, '1', 3), [],
        ];
        yield 'too many in the long run' => [
            $one . '|' . $try(106, 2, '1') . '|' . $try(306, 3, '1'), $try(203, 1, '1') . '|' . $try(390, 2, '1'),
            ['too many: a #1', 'too many: a #2', 'too many: b #1', 'too many: a #3'],
        ];
        yield 'after the server has forgotten' => [$one, $try(50, 1, '1'), [], 'flush-all 20 - 21'];
        yield 'refused within a step' => [$one, $try(90, 1, '0'), []];
        yield 'refused after a step' => [$one, $try(106, 1, '0'), ['refused: b #1']];
        yield 'refused after nothing' => ['end 1', $try(90, 1, '0'), ['refused: b #1']];
        yield 'refused behind a killed one' => ['call 1 1 acquire r wait 100000 1', $try(300, 1, '0'), []];
        yield 'to wait within a step' => [$one, 'call 90 1 look r - 100000 1 | returned 91 1 9000', []];
        yield 'to wait after a step' => [$one, 'call 190 1 look r - 100000 1 | returned 191 1 9000', ['refused: b #1']];
        yield 'not to wait' => [$one, 'call 190 1 look r - 100000 1 | returned 191 1 0', []];
        yield 'an exception' => [$one, 'call 190 1 look r - 100000 1 | returned 191 1 refused x', ['refused: b #1']];
        yield 'waits for its slot' => [$one, 'call 2 1 acquire r wait 100000 1 | returned 600 1 1', []];
        yield 'waits for longer' => [$one, 'call 2 1 acquire r wait 100000 1 | returned 900 1 1', ['late: b #1']];
        yield 'waits for longer, stopped' => [
            $one, 'call 2 1 acquire r wait 100000 1 | returned 900 1 1', [], 'stop 100 b | continue 700 b',
        ];
        yield 'waits for longer than it was to' => [
            $one, 'call 2 1 acquire r 30 100000 1 | returned 600 1 0', ['late: b #1'],
        ];
        yield 'does not wait' => [$one, 'call 2 1 acquire r try 100000 1 | returned 600 1 0', ['late: b #1']];
    }
}
