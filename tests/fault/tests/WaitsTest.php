<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * Somebody waits for a lock that is first come, first served: was it forgotten?
 */
final class WaitsTest extends TestCase
{
    private const TRAITS = 'expiring,first-come';
    /** Has it for the first ten milliseconds. */
    private const HELD = 'try 0 1 1 r x try 100 | granted 1 1 - | held 9 1 | release 10 1 | released 10 1';

    #[DataProvider('passings')]
    public function testNobodyIsPassedOver(array $expected, string $later, string $faults = 'script-flush 5'): void
    {
        $tale = (new Tale())
            ->faults($faults)
            // So that it does not lie idle: a peer, who stands in no queue.
            ->tell('a', self::often(0, 4000, 400), 'expiring')
            ->tell('b', 'try 5 1 1 r x wait 100 | granted 4000 1 - | held 4001 1', self::TRAITS)
            ->tell('c', $later, self::TRAITS);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{list<string>, string, 2?: string}>
     */
    public static function passings(): iterable
    {
        $at = static fn (int $tried, int $granted): string => "try $tried 1 1 r x wait 100 | granted $granted 1 - "
            . "| release $granted 1 | released $granted 1";
        $found = ['passed over: c #1, b #1'];

        yield 'by who came later' => [$found, $at(600, 3000)];
        yield 'by who came at the same time' => [[], $at(400, 3000)];
        yield 'by who came before' => [[], $at(1, 3000)];
        yield 'for a moment' => [[], $at(600, 3600)];
        yield 'by a reader that wants to write' => [
            [], 'try 1 1 1 r s try 5000 | granted 2 1 - | try 600 2 1 r x wait 100 | granted 3000 2 - | release 3001 2',
        ];
        yield 'while it was stopped' => [[], $at(600, 3000), 'stop 400 b | continue 3100 b'];
        yield 'after it was stopped' => [$found, $at(600, 3000), 'stop 6 b | continue 20 b'];
        yield 'when its subscription was cut' => [[], $at(600, 2000), 'subscription-kill 1990 b'];
        yield 'while it polled, as its subscription had been cut' => [[], $at(600, 2000), 'subscription-kill 4 b'];
        yield 'when another one was cut off' => [$found, $at(600, 2000), 'subscription-kill 1990 c'];
        yield 'after the server had restarted' => [[], $at(600, 3000), 'restart 2500 - 2510'];
        yield 'just after all was flushed' => [[], $at(600, 3000), 'flush-all 100 - 101'];
    }

    #[DataProvider('idleTimes')]
    public function testLockDoesNotLieIdleWhileSomebodyWaits(
        array $expected,
        int $granted,
        string $faults,
        string $other = 'end 3',
    ): void {
        $tale = (new Tale())
            ->faults($faults)
            ->tell('a', self::HELD, self::TRAITS)
            ->tell('b', "try 300 1 1 r x wait 100 | granted $granted 1 -", self::TRAITS)
            ->tell('c', $other, self::TRAITS);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{list<string>, int, string, 3?: string}>
     */
    public static function idleTimes(): iterable
    {
        $none = 'script-flush 5';
        $before = 'try 100 1 1 r x wait 100';
        $found = ['idle: b #1'];
        [$later, $then] = ['try', '1 1 r x wait 100 | granted 3010 1 - | release 3011 1 | released 3011 1'];

        yield 'for long' => [$found, 801, $none];
        yield 'for as long as processes take' => [[], 799, $none];
        yield 'while it was held' => [
            [], 2000, $none, 'try 2 1 1 r x wait 2000 | granted 9.5 1 - | held 1950 1 | release 1990 1 | released 1990 1',
        ];
        yield 'while it was stopped' => [[], 2000, 'stop 310 b | continue 1600 b'];
        yield 'after it was stopped' => [$found, 2000, 'stop 560 b | continue 1400 b'];
        yield 'after it was stopped while it connected' => [[], 2900, 'stop 310 b | continue 1400 b'];
        yield 'long after that' => [$found, 3000, 'stop 310 b | continue 1400 b'];
        yield 'after it was stopped shortly' => [$found, 2000, 'stop 310 b | continue 1200 b'];
        yield 'while nobody had a processor' => [[], 1000, 'stall 310 - 900'];
        yield 'behind somebody who was killed' => [[], 2700, 'kill 350 c | ended 351 c signal-9', $before];
        yield 'much longer than that explains' => [
            $found, 2900, 'kill 250 c | ended 251 c signal-9', 'try 200 1 1 r x 1 100 | conflict 202 1 | '
                . 'try 203 2 2 r x try 9',
        ];
        yield 'behind somebody who waits as well' => [
            ['idle: c #1', 'idle: b #1'], 2700, $none, "$before | granted 2710 1 -",
        ];
        yield 'before somebody who was killed' => [
            $found, 2700, 'kill 550 c | ended 551 c signal-9', 'try 500 1 1 r x wait 100',
        ];
        yield 'behind somebody who came while it was stopped, and was stopped in turn' => [
            [], 2700, 'stop 560 b | stop 1000 c | continue 1400 b | continue 3000 c', "$later 800 $then",
        ];
        yield 'before somebody who came when it went on, and was stopped' => [
            $found, 2700, 'stop 560 b | continue 1400 b | stop 1700 c | continue 3000 c', "$later 1600 $then",
        ];
        yield 'as long as a claim window after the connection was cut' => [
            [], 1450, 'client-kill 306 c', 'try 100 1 1 r x 200 100 | conflict 305 1',
        ];
        yield 'held by somebody who was killed' => [
            [], 1400, 'kill 20 c | ended 21 c signal-9', 'try 11 1 1 r x try 900 | granted 12 1 - | held 13 1',
        ];
    }

    #[DataProvider('ends')]
    public function testWaitEndsWithItsTimeOut(array $expected, string $waits, string $faults = 'script-flush 5'): void
    {
        $tale = (new Tale())
            ->faults($faults)
            ->tell('a', 'try 0 1 1 r s try 9000 | granted 1 1 - | held 8000 1', self::TRAITS)
            ->tell('b', $waits, self::TRAITS)
            ->tell('c', 'try 0 1 1 r s try 9000 | granted 1 1 - | try 20 2 1 r x wait 9000 | failed 7000 2 E', self::TRAITS);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{list<string>, string, 2?: string}>
     */
    public static function ends(): iterable
    {
        yield 'in time' => [[], 'try 5 1 1 r x 100 100 | conflict 600 1'];
        yield 'late' => [['late: b #1'], 'try 5 1 1 r x 100 100 | conflict 606 1'];
        yield 'late, though with the lock' => [['late: b #1'], 'try 5 1 1 r s 100 100 | granted 606 1 -'];
        yield 'late, as it was stopped' => [
            [], 'try 5 1 1 r x 100 100 | conflict 2000 1', 'stop 50 b | continue 1900 b',
        ];
        yield 'without one' => [['gave up: b #1'], 'try 5 1 1 r x wait 100 | conflict 600 1'];
        yield 'without one, with an exception' => [[], 'try 5 1 1 r x wait 100 | failed 600 1 E'];
        yield 'without one, as another reader wants to write, too' => [
            [], 'try 5 1 1 r s try 9000 | granted 6 1 - | try 30 2 1 r x wait 100 | conflict 31 2',
        ];
        yield 'without one, before another reader wants to write, too' => [
            ['gave up: b #2'], 'try 5 1 1 r s try 9000 | granted 6 1 - | try 10 2 1 r x wait 100 | conflict 11 2',
        ];
    }

    public function testOthersAreNotServedInTurn(): void
    {
        $tale = (new Tale())
            ->tell('a', self::HELD, 'expiring')
            ->tell('b', 'try 5 1 1 r x wait 100 | granted 4000 1 -', 'expiring')
            ->tell('c', 'try 600 1 1 r x wait 100 | granted 3000 1 - | release 3001 1', 'expiring');

        self::assertSame([], $tale->violations());
    }

    #[DataProvider('losses')]
    public function testServerThatForgetsEndsWhatWasCertain(array $expected, string $faults): void
    {
        $tale = (new Tale())
            ->faults($faults)
            ->tell('a', 'try 0 1 1 r x try 9000 | granted 1 1 - | held 200 1', 'expiring')
            ->tell('b', 'try 110 1 1 r x try 9000 | granted 111 1 - | held 200 1', 'expiring');

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{list<string>, string}>
     */
    public static function losses(): iterable
    {
        yield 'flushed' => [[], 'flush-all 100 - 101'];
        yield 'restarted without its data' => [[], 'empty-restart 90 - 109'];
        yield 'restarted with its data' => [['overlap: a #1, b #1'], 'restart 90 - 109'];
        yield 'before' => [['overlap: a #1, b #1'], 'flush-all 0 - 0'];
        yield 'after' => [['overlap: a #1, b #1'], 'flush-all 150 - 151'];
    }

    /** Takes the lock and gives it back, again and again. */
    private static function often(int $from, int $until, int $pause): string
    {
        $records = [];
        for ($time = $from, $number = 1; $time < $until; $time += $pause, ++$number) {
            $records[] = "try $time $number $number r x try 100 | granted $time $number - "
                . "| release $time $number | released $time $number";
        }

        return implode(' | ', $records);
    }
}
