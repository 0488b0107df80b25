<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * What must not be answered about a debounce: a quiet time of 50 ms, 100 ms at most. The server's clock is the workers'.
 */
final class DebounceCheckTest extends TestCase
{
    /**
     * @param list<string> $expected
     */
    #[DataProvider('histories')]
    public function testHistory(string $a, string $b, array $expected, string $faults = ''): void
    {
        $tale = (new Tale())->call('debounce', 'a', $a)->call('debounce', 'b', $b);
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
        // Each takes a ms.
        $call = static fn (int $time, int $number, string $what, string $answer): string => sprintf(
            ' | call %d %d %s | returned %d %d %s', $time, $number, $what, $time + 1, $number, $answer,
        );
        $register = static fn (int $time, int $number, int $token, int $delay = 50_000): string => $call(
            $time, $number, 'register r 50000 100000', "$token $delay",
        );
        $sent = static fn (int $time, int $number, int $token): string => $call($time, $number, "sent r 50000 100000 $token", 'sent');
        $resume = static fn (int $time, int $number, int $token, string $answer): string => $call(
            $time, $number, "resume r 50000 100000 $token", $answer,
        );
        $done = static fn (int $time, int $number, int $token): string => $call($time, $number, "done r 50000 100000 $token", 'done');
        $start = 'fork 0';
        $one = $start . $register(2, 1, 2_500) . $sent(4, 2, 2_500);
        $both = $one . $register(20, 3, 20_500) . $sent(22, 4, 20_500);
        $apart = $one . $register(60, 3, 60_500) . $sent(62, 4, 60_500);
        $many = $both . $register(50, 5, 50_500) . $sent(52, 6, 50_500) . $register(90, 7, 90_500, 12_000) . $sent(92, 8, 90_500);

        yield 'goes, and is done' => [
            $one . $resume(60, 3, 2_500, 'go 0') . $done(62, 4, 2_500), $start . $resume(64, 1, 2_500, 'done 0'), [],
        ];
        yield 'goes again before it is done' => [$one . $resume(60, 3, 2_500, 'go 0'), $start . $resume(64, 1, 2_500, 'go 0'), []];
        yield 'goes too early' => [$one . $resume(40, 3, 2_500, 'go 0'), $start, ['untrue: a #3']];
        yield 'held' => [$one . $resume(40, 3, 2_500, 'held 12000'), $start, []];
        yield 'held for too short' => [$one . $resume(40, 3, 2_500, 'held 5000'), $start, ['untrue: a #3']];
        yield 'held for too long' => [$one . $resume(40, 3, 2_500, 'held 50000'), $start, ['untrue: a #3']];
        yield 'held when its burst has ended' => [
            $one . $resume(60, 3, 2_500, 'held 100'), $start, ['untrue: a #3', 'untrue: a #3'],
        ];
        yield 'goes again when it is done' => [
            $one . $resume(60, 3, 2_500, 'go 0') . $done(62, 4, 2_500), $start . $resume(64, 1, 2_500, 'go 0'), ['twice: b #1'],
        ];
        yield 'goes again when it may be done' => [
            $one . $resume(60, 3, 2_500, 'go 0') . ' | call 62 4 done r 50000 100000 2500', $start . $resume(64, 1, 2_500, 'go 0'), [],
        ];
        yield 'done by a worker that was killed' => [
            $one . $resume(60, 3, 2_500, 'go 0') . ' | call 62 4 done r 50000 100000 2500', $start . $resume(64, 1, 2_500, 'done 0'), [],
        ];
        yield 'goes again, as the server has forgotten' => [
            $one . $resume(60, 3, 2_500, 'go 0') . $done(62, 4, 2_500), $start . $resume(80, 1, 2_500, 'go 0'), [], 'flush-all 70 - 71',
        ];
        yield 'goes again, as the server had forgotten when it was done' => [
            $one . $resume(60, 3, 2_500, 'go 0') . $done(72, 4, 2_500), $start . $resume(80, 1, 2_500, 'go 0'), [], 'flush-all 65 - 66',
        ];
        yield 'done by none' => [$one . $resume(60, 3, 2_500, 'done 0'), $start, ['refused: a #3', 'passed over']];
        yield 'an exception' => [$one . $resume(60, 3, 2_500, 'refused x'), $start, ['refused: a #3']];

        yield 'a later one takes its place' => [$both . $resume(75, 5, 20_500, 'go 0'), $start . $resume(25, 1, 2_500, 'done 0'), []];
        yield 'goes in spite of a later one' => [$both, $start . $resume(60, 1, 2_500, 'go 0'), ['untrue: b #1']];
        yield 'held in spite of a later one' => [$both, $start . $resume(30, 1, 2_500, 'held 22000'), ['untrue: b #1']];
        yield 'the later one was not sent' => [
            $one . $register(20, 3, 20_500), $start . $resume(60, 1, 2_500, 'done 0'), ['refused: b #1', 'passed over'],
        ];
        yield 'the later one may have been sent' => [
            $one . $register(20, 3, 20_500) . ' | call 22 4 sent r 50000 100000 20500', $start . $resume(60, 1, 2_500, 'done 0'), [],
        ];
        yield 'the later one came' => [
            $one . $register(20, 3, 20_500) . $resume(22, 4, 20_500, 'held 48000'), $start . $resume(60, 1, 2_500, 'done 0'), [],
        ];
        yield 'the later one is of another burst' => [$apart, $start . $resume(70, 1, 2_500, 'go 0'), []];
        yield 'a later one of another burst takes its place' => [
            $apart, $start . $resume(70, 1, 2_500, 'done 0'), ['refused: b #1'],
        ];
        yield 'it is sent when a later one was' => [
            $start . $register(2, 1, 2_500) . $register(20, 3, 20_500) . $sent(22, 4, 20_500) . $sent(24, 5, 2_500),
            $start . $resume(60, 1, 2_500, 'done 0'),
            [],
        ];
        yield 'it is sent when a later one was, and goes' => [
            $start . $register(2, 1, 2_500) . $register(20, 3, 20_500) . $sent(22, 4, 20_500) . $sent(24, 5, 2_500),
            $start . $resume(60, 1, 2_500, 'go 0'),
            ['untrue: b #1'],
        ];
        foreach (['done' => [], 'go' => ['untrue: b #1']] as $answer => $expected) {
            yield "it is sent when one of a later burst was: $answer" => [
                $start . $register(2, 1, 2_500) . $register(60, 3, 60_500) . $sent(62, 4, 60_500) . $sent(64, 5, 2_500),
                $start . $resume(70, 1, 2_500, "$answer 0"),
                $expected,
            ];
        }
        yield 'it is sent when its longest time is over' => [
            $start . $register(2, 1, 2_500) . $register(110, 3, 110_500) . $sent(112, 4, 110_500) . $sent(114, 5, 2_500),
            $start . $resume(120, 1, 2_500, 'done 0'),
            [],
        ];
        yield 'a later one of its burst is sent when another burst has begun' => [
            $one . $register(20, 3, 20_500) . $register(60, 4, 60_500) . $sent(62, 5, 60_500) . $sent(64, 6, 20_500),
            $start . $resume(70, 1, 2_500, 'go 0') . $resume(72, 2, 20_500, 'done 0'),
            [],
        ];

        yield 'ends by its greatest time' => [$many . $resume(103, 9, 90_500, 'go 0'), $start, []];
        yield 'ends before its greatest time' => [$many . $resume(96, 9, 90_500, 'go 0'), $start, ['untrue: a #9']];
        yield 'is held until its greatest time' => [$many . $resume(95, 9, 90_500, 'held 7000'), $start, []];
        yield 'its delay is that of none' => [$one . $register(20, 3, 20_500, 70_000), $start, ['untrue: a #3']];
        yield 'its delay is too short' => [$one . $register(20, 3, 20_500, 20_000), $start, ['untrue: a #3']];
        yield 'its delay ends before any burst' => [
            $both . $register(50, 5, 50_500) . $sent(52, 6, 50_500) . $register(90, 7, 90_500, 5_000), $start, ['untrue: a #7'],
        ];
        yield 'its delay is that of a burst that has not begun' => [
            $start . $register(2, 1, 2_500) . $register(90, 2, 90_500, 12_000) . $sent(95, 3, 2_500), $start, ['untrue: a #2'],
        ];
        $endless = $many . $register(120, 9, 120_500) . $sent(122, 10, 120_500);
        $replaced = $resume(130, 1, 2_500, 'done 0') . $resume(132, 2, 20_500, 'done 0') . $resume(134, 3, 50_500, 'done 0');
        yield 'goes beside the next burst' => [$endless, $start . $replaced . $resume(136, 4, 90_500, 'go 0'), []];
        yield 'never goes' => [$endless, $start . $replaced . $resume(136, 4, 90_500, 'done 0'), ['passed over']];

        yield 'a lower token' => [$one, $start . $register(20, 1, 2_000, 32_000), ['back: a #1, b #1', 'untrue: b #1']];
        yield 'a token twice' => [$one, $start . $register(3, 1, 2_500), ['twice: a #1, b #1']];
    }
}
