<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * Locks that are their session's: they end with it, and with nothing else.
 */
final class SessionsTest extends TestCase
{
    private const TRAITS = 'session,late-release,first-come';
    private const HELD = 'try 1 1 1 r x try 9 | granted 2 1 - | held 50 1';

    /**
     * @param list<string> $expected
     */
    #[DataProvider('ends')]
    public function testLockEndsWithItsSession(array $expected, string $faults, string $other): void
    {
        $tale = (new Tale())->faults($faults)->tell('a', self::HELD, self::TRAITS)->tell('b', $other, self::TRAITS);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{list<string>, string, string}>
     */
    public static function ends(): iterable
    {
        $granted = 'try 20 1 1 r x try 9 | granted 21 1 - | held 30 1';
        $refused = 'try 90 1 1 r x try 9 | conflict 91 1 | try 92 2 2 q x try 9 | granted 93 2 -';
        $overlap = ['overlap: a #1, b #1'];

        yield 'taken while it is held' => [$overlap, 'script-flush 5', $granted];
        yield 'taken after the end of the session' => [[], 'session-kill 10 a 19', $granted];
        yield 'taken after a crash' => [[], 'crash 10 - 19', $granted];
        yield 'taken after the end of another session' => [$overlap, 'session-kill 10 c 19', $granted];
        yield 'taken after an end before it was got' => [$overlap, 'session-kill 0 a 0.5', $granted];
        yield 'taken before the end of the session' => [$overlap, 'session-kill 40 a 41', $granted];
        yield 'refused after its TTL' => [[], 'script-flush 5', $refused];
        yield 'refused after the end of the session' => [
            ['lost grant: a #1, b #1'], 'session-kill 60 a 70', $refused,
        ];
        yield 'refused while the session ended' => [[], 'session-kill 60 a 91', $refused];
        yield 'refused though the holder had been dead for long' => [
            ['lost grant: a #1, b #1'], 'kill 50 a | ended 51 a signal-9',
            'try 302 1 1 r x try 9 | conflict 303 1 | try 304 2 2 q x try 9 | granted 305 2 -',
        ];
        yield 'refused when the holder had just died' => [[], 'kill 50 a | ended 51 a signal-9', $refused];
        yield 'refused while the holder was stopped' => [[], 'stop 51 a | continue 500 a', $refused];
    }

    #[DataProvider('claims')]
    public function testWhoNoticesTheEndOfItsSessionHoldsNothingAfterIt(
        string $faults,
        string $traits,
        string ...$expected,
    ): void {
        $tale = (new Tale())->faults($faults)->tell('a', self::HELD . ' | held 300 1', $traits);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, list<string>>
     */
    public static function claims(): iterable
    {
        $traits = self::TRAITS . ',notices';

        yield 'soon after it' => ['session-kill 51 a 52', $traits];
        yield 'for long after it' => ['session-kill 40 a 41', $traits, 'never granted: a #1'];
        yield 'got after it' => ['session-kill 0 a 1.5', $traits];
        yield 'without a look' => ['session-kill 40 a 41', self::TRAITS];
    }

    /**
     * @param list<string> $expected
     */
    #[DataProvider('troubles')]
    public function testNobodyIsRefusedForWhatIsOver(array $expected, string $told): void
    {
        $refused = 'try 900 1 1 r x try 9 | conflict 901 1 | try 902 2 2 q x try 9 | granted 903 2 -';
        $tale = (new Tale())->tell('a', $told, self::TRAITS)->tell('b', $refused, self::TRAITS);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{list<string>, string}>
     */
    public static function troubles(): iterable
    {
        $answer = ' | try 100 2 2 p x try 9 | granted 101 2 -';
        $found = ['lost grant: a #1, b #1'];

        yield 'left to its destructor' => [$found, self::HELD . " | drop 51 1 | dropped 52 1$answer"];
        yield 'not known to be released' => [$found, self::HELD . " | release 51 1 | unreleased 52 1 E$answer"];
        yield 'given up after an exception' => [$found, "try 1 1 1 r x wait 9 | failed 2 1 E | abandon 3 1$answer"];
        yield 'released after an exception' => [
            $found, 'try 1 1 1 r x wait 9 | failed 2 1 E | release 3 1 | released 4 1',
        ];
        yield 'not confirmed to be released' => [
            [], self::HELD . ' | drop 51 1 | dropped 52 1 | try 905 2 2 p x try 9 | granted 906 2 -',
        ];
        yield 'just confirmed' => [
            [], 'try 1 1 1 r x wait 9 | failed 2 1 E | abandon 3 1 | try 890 2 2 p x try 9 | granted 891 2 -',
        ];
    }

    /** @param list<string> $expected */
    #[DataProvider('promotions')]
    public function testOnlyAPromotionThatWaitsKeepsReadersOut(array $expected, string $patience): void
    {
        $read = 'try 1 1 1 r s try 9 | granted 2 1 - | held 50 1';
        $tale = (new Tale())
            ->tell('a', "$read | try 10 2 1 r x $patience 9 | conflict 14 2", self::TRAITS)
            ->tell('b', $read, self::TRAITS)
            ->tell('c', 'try 11 1 1 r s try 9 | conflict 12 1 | try 13 2 2 q x try 9 | granted 14 2 -', self::TRAITS);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{list<string>, string}>
     */
    public static function promotions(): iterable
    {
        yield 'it stands in the queue' => [[], '4'];
        yield 'it does not' => [['lost grant: c #1'], 'try'];
    }

    public function testTwoHandsOfAProcessExcludeEachOther(): void
    {
        $tale = (new Tale())
            ->tell('a', self::HELD . ' | aside 10 | back 40', self::TRAITS)
            ->tell('a+', 'try 11 1 1 r x try 9 | granted 12 1 - | held 13 1', self::TRAITS);

        self::assertSame(['overlap: a #1, a+ #1'], $tale->violations());
    }

    public function testBothHandsAreTheProcesss(): void
    {
        $tale = (new Tale())
            ->faults('session-kill 20 a 21 | kill 60 a | ended 61 a signal-9')
            ->tell('a', self::HELD, self::TRAITS)
            ->tell('a+', 'try 11 1 1 q x try 9 | granted 12 1 - | held 50 1', self::TRAITS)
            ->tell('b', 'try 22 1 1 r x try 9 | granted 23 1 - | held 24 1', self::TRAITS)
            ->tell('c', 'try 22 1 1 q x try 9 | granted 23 1 - | held 24 1', self::TRAITS);

        self::assertSame([], $tale->violations());
    }

    #[DataProvider('deaths')]
    public function testServerMayNoticeLateThatAWaiterIsDead(string $told, int $refused, string ...$expected): void
    {
        $tale = (new Tale())
            ->faults('kill 60 a | ended 61 a signal-9')
            ->tell('a', $told, self::TRAITS)
            ->tell('b', "try $refused 1 1 r x try 9 | conflict $refused 1 | try 3000 2 2 q x try 9 | granted 3001 2 -", '-');

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{0: string, 1: int, 2?: string}>
     */
    public static function deaths(): iterable
    {
        yield 'soon' => ['try 1 1 1 r x wait 9', 1300];
        yield 'long ago' => ['try 1 1 1 r x wait 9', 1320, 'lost grant: a #1, b #1'];
        yield 'a holder, which is seen at once' => [self::HELD, 400, 'lost grant: a #1, b #1'];
        yield 'a holder that waits with its other hand' => [self::HELD . ' | aside 51', 400];
        yield 'a holder that waited with it' => [self::HELD . ' | aside 51 | back 52', 400, 'lost grant: a #1, b #1'];
    }

    /**
     * @param list<string> $expected
     */
    #[DataProvider('waits')]
    public function testWaiterThatIsStoppedHasTheLockMeanwhile(array $expected, string $faults, string $traits): void
    {
        $tale = (new Tale())
            ->faults($faults)
            ->tell('a', 'try 0 1 1 r x try 9 | granted 1 1 - | release 9 1 | released 10 1', $traits)
            ->tell('b', 'try 2 1 1 r x wait 9 | granted 1900 1 - | release 1901 1 | released 1902 1', $traits)
            ->tell('c', 'try 300 1 1 r x wait 9 | granted 1903 1 -', $traits);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{list<string>, string, string}>
     */
    public static function waits(): iterable
    {
        yield 'stopped' => [[], 'stop 3 b | continue 1900 b', self::TRAITS];
        yield 'not stopped' => [['idle: b #1', 'idle: c #1'], 'script-flush 5', self::TRAITS];
    }

    public function testWhoTimesOutWhileItIsStoppedMayHaveHadTheLockMeanwhile(): void
    {
        foreach (['stop 3 b | continue 1900 b' => [], 'script-flush 5' => ['idle: b #1', 'idle: c #1']] as $faults => $expected) {
            $tale = (new Tale())
                ->faults($faults)
                ->tell('a', 'try 0 1 1 r x try 9 | granted 1 1 - | release 9 1 | released 10 1', self::TRAITS)
                ->tell('b', 'try 2 1 1 r x 1890 9 | conflict 1902 1', self::TRAITS)
                ->tell('c', 'try 300 1 1 r x wait 9 | granted 1903 1 -', self::TRAITS);

            self::assertSame($expected, array_values(array_diff($tale->violations(), ['lost grant: a #1, b #1'])));
        }
    }

    #[DataProvider('connections')]
    public function testWhoHasNoSessionYetMayWaitInVain(string $before, string $faults, string ...$expected): void
    {
        $tale = (new Tale())->faults($faults)->tell(
            'a',
            $before . 'try 900 2 2 r x 120 9 | conflict 1050 2 | try 1060 3 3 q x try 9 | granted 1070 3 -',
            self::TRAITS,
        );

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, list<string>>
     */
    public static function connections(): iterable
    {
        $answered = 'try 1 1 1 q x try 9 | granted 2 1 - | release 3 1 | released 4 1 | ';

        yield 'the first' => ['', 'script-flush 5'];
        yield 'after an answer' => [$answered, 'script-flush 5', 'lost grant: a #2'];
        yield 'after the end of the session' => [$answered, 'session-kill 10 a 11'];
        yield 'after an exception' => ['try 1 1 1 q x try 9 | failed 2 1 E | release 3 1 | released 4 1 | ', 'script-flush 5'];
    }

    public function testWhoAsksAgainLosesItsPlace(): void
    {
        foreach ([['passed over: c #1, b #1'], []] as $asksAgain => $expected) {
            $tale = (new Tale())
                ->tell('a', 'try 0 1 1 r x try 9 | granted 1 1 - | release 2000 1 | released 2001 1', self::TRAITS)
                ->tell('b', 'try 5 1 1 r x wait 9 | granted 2700 1 -', self::TRAITS . ($asksAgain ? ',asks-again' : ''))
                ->tell('c', 'try 600 1 1 r x wait 9 | granted 2002 1 - | release 2698 1 | released 2699 1', self::TRAITS);

            self::assertSame($expected, $tale->violations());
        }
    }
}
