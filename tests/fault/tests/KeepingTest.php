<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use Latch\Tests\Fault\Check\Keeping;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * A lock is renewed as long as it is held: is it known when it is not held any more?
 */
final class KeepingTest extends TestCase
{
    private const TRAITS = 'expiring,fencing,kept';
    private const TOLD = 'gone 1200 1 | told 1201 1 why';
    /** Held for ten times its TTL. */
    private const KEPT = 'try 1 1 1 r x try 300 | granted 2 1 1 | held 3000 1';

    /**
     * @param list<string> $expected
     */
    #[DataProvider('certainties')]
    public function testNobodyIsCertainForLongerThanATtlAfterTheLastRenewal(
        array $expected,
        string $faults,
        string $records = self::KEPT,
    ): void {
        $tale = (new Tale())->faults($faults)->tell('a', $records, self::TRAITS);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{0: list<string>, 1: string, 2?: string}>
     */
    public static function certainties(): iterable
    {
        $found = ['outlived: a #1'];
        $until = static fn (float $time): string => "try 1 1 1 r x try 300 | granted 2 1 1 | held $time 1";

        yield 'when nothing happens' => [[], 'script-flush 5'];
        yield 'behind a silence of the server' => [$found, 'server-stop 1000 - 1301'];
        yield 'behind one that is as long as the TTL' => [[], 'server-stop 1000 - 1300'];
        yield 'behind a long pause' => [$found, 'client-pause 1000 - 1301'];
        yield 'behind a silent member' => [[], 'member-stop 1000 - 2000'];
        yield 'behind a stop of the worker' => [$found, 'stop 1000 a | continue 1301 a'];
        yield 'behind a short stop' => [[], 'stop 1000 a | continue 1290 a'];
        yield 'behind the stop of another one' => [[], 'stop 1000 b | continue 2000 b'];
        yield 'in the middle of a silence' => [$found, 'server-stop 1000 - 2000', $until(1300.1)];
        yield 'in the middle of it until the TTL is over' => [[], 'server-stop 1000 - 2000', $until(1300)];
        yield 'behind a silence before the grant' => [[], 'server-stop 1 - 2', 'try 0 1 1 r x wait 0 | granted 3 1 1 | held 9 1'];
        yield 'after the server has forgotten it' => [$found, 'flush-all 1000 - 1001', $until(1301.1)];
        yield 'for a TTL after the server has forgotten it' => [[], 'flush-all 1000 - 1001', $until(1301)];
        yield 'after the server has lost its data' => [$found, 'empty-restart 1000 - 1100'];
        yield 'after a restart of the server' => [[], 'restart 1000 - 1100'];
    }

    /**
     * @param list<string> $expected
     */
    #[DataProvider('losses')]
    public function testNothingIsLostThatCanBeRenewed(
        array $expected,
        string $faults,
        string $end = self::TOLD,
        string $traits = self::TRAITS,
    ): void {
        $tale = (new Tale())
            ->faults($faults)
            ->tell('a', "try 1 1 1 r x try 300 | granted 2 1 1 | held 1000 1 | $end | release 1300 1 | released 1301 1", $traits);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{0: list<string>, 1: string, 2?: string, 3?: string}>
     */
    public static function losses(): iterable
    {
        $found = ['lost: a #1'];
        $votes = self::TRAITS . ',votes';

        yield 'when nothing happens' => [$found, 'script-flush 5'];
        yield 'when scripts are flushed' => [$found, 'script-flush 1000'];
        yield 'when its connections are cut' => [$found, 'client-kill 1000 a 1001'];
        yield 'when a member is in trouble' => [
            $found, 'member-kill 700 - 1200 1 | member-stop 1200 - 1290 1', self::TOLD, $votes,
        ];
        yield 'when one member after the other is in trouble' => [
            [], 'member-kill 700 - 1200 1 | member-stop 1200 - 1290 2', self::TOLD, $votes,
        ];
        yield 'when a majority was silent before it was granted' => [[], 'server-stop 0 - 0', self::TOLD, $votes];
        yield 'when the server is silent' => [[], 'server-stop 900 - 1150'];
        yield 'when it was silent a TTL before' => [[], 'server-stop 500 - 701'];
        yield 'when it was silent long before' => [$found, 'server-stop 300 - 449'];
        yield 'when the server pauses' => [[], 'client-pause 900 - 1150'];
        yield 'when the server restarts' => [[], 'restart 900 - 1150'];
        yield 'when the server forgets it' => [[], 'flush-all 1000 - 1001'];
        yield 'before the server forgets it' => [$found, 'flush-all 1250 - 1251'];
        yield 'when it stands still' => [[], 'stop 900 a | continue 1190 a'];
        yield 'when another one stands still' => [$found, 'stop 900 b | continue 1190 b'];
        yield 'when a processor stands still' => [[], 'stall 900 - 1190'];
        yield 'when it is to have another mode' => [
            $found, 'script-flush 5', 'try 1150 2 1 r s 50 300 | told 1200 1 why | conflict 1200 2',
        ];
        yield 'when it is to have another mode in a quorum' => [
            [], 'script-flush 5', 'try 1150 2 1 r s 50 300 | told 1200 1 why | conflict 1200 2', $votes,
        ];
        yield 'by refresh()' => [$found, 'script-flush 5', 'renew 1100 1 | lost 1200 1'];
    }

    /**
     * @param list<string> $expected
     */
    #[DataProvider('ends')]
    public function testLossIsToldOnceAndForEver(array $expected, string $end): void
    {
        $tale = (new Tale())
            ->faults('server-stop 900 - 1150')
            ->tell('a', "try 1 1 1 r x try 300 | granted 2 1 1 | held 1000 1 | $end", self::TRAITS);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{list<string>, string}>
     */
    public static function ends(): iterable
    {
        $release = 'release 1300 1 | released 1301 1';

        yield 'told' => [[], "gone 1200 1 | told 1201 1 why | $release"];
        yield 'told before it was asked' => [[], "told 1199 1 why | gone 1200 1 | $release"];
        yield 'told when nobody asks' => [[], "told 1199 1 why | $release"];
        yield 'told while it is given back' => [[], 'release 1300 1 | told 1301 1 why | released 1302 1'];
        yield 'asked before it was told' => [[], "told 1199 1 why | held 1198 1 | $release"];
        yield 'refreshed all the same, when it was told meanwhile' => [
            [], "renew 1198 1 | told 1199 1 why | renewed 1200 1 | held 1201 1 | $release",
        ];
        yield 'and lost again after that' => [
            [], "renew 1198 1 | told 1199 1 why | renewed 1200 1 | held 1201 1 | told 1210 1 why | $release",
        ];
        yield 'told meanwhile, and not refreshed' => [
            ['never granted: a #1'], "renew 1198 1 | told 1199 1 why | unrenewed 1200 1 x | held 1201 1 | $release",
        ];
        yield 'told before it was refreshed' => [
            ['never granted: a #1'], "told 1197 1 why | renew 1198 1 | renewed 1200 1 | held 1201 1 | $release",
        ];
        yield 'not told' => [['untold: a #1'], "gone 1200 1 | $release"];
        yield 'not told before it was killed' => [[], 'gone 1200 1'];
        yield 'told twice' => [['never granted: a #1'], "told 1199 1 why | told 1200 1 why | $release"];
        yield 'told of another one' => [['never granted: a #1'], 'told 1199 2 why'];
        yield 'told when it has been given back' => [['never granted'], "$release | told 1302 1 why"];
        yield 'certain again' => [['never granted: a #1'], "gone 1200 1 | told 1201 1 why | held 1202 1 | $release"];
        yield 'certain after it was told' => [['never granted: a #1'], "told 1200 1 why | held 1201 1 | $release"];
    }

    public function testLossIsKnownBeforeAnybodyElseHasIt(): void
    {
        $stories = static fn (int $granted): Tale => (new Tale())
            ->faults('server-stop 1000 - 1290')
            ->tell('a', 'try 1 1 1 r x try 300 | granted 2 1 1 | held 1299 1 | gone 1300 1 | told 1300 1 why', self::TRAITS)
            ->tell('b', "try 5 1 1 r x wait 300 | granted $granted 1 2", 'expiring,fencing,first-come');

        self::assertSame(['overlap: a #1, b #1'], $stories(1298)->violations());
        self::assertSame([], $stories(1299)->violations());
    }

    /**
     * @param list<string> $expected
     */
    #[DataProvider('rests')]
    public function testLockIsFreeWhenNobodyRenewsItAnyMore(array $expected, string $end, int $tried): void
    {
        $tale = (new Tale())
            ->faults('kill 5000 c | ended 5001 c signal-9 | kill 1000 a | ended 1001 a signal-9')
            ->tell('a', "try 1 1 1 r x try 300 | granted 2 1 1 | held 990 1$end", self::TRAITS)
            ->tell('b', "try $tried 1 1 r x try 300 | conflict $tried 1", 'expiring,fencing')
            ->tell('d', 'try 1 1 1 q x try 300 | granted 2 1 1', 'expiring,fencing');

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{list<string>, string, int}>
     */
    public static function rests(): iterable
    {
        // A TTL, and the time that processes take.
        $found = ['lost grant: a #1, b #1'];

        yield 'held' => [[], '', 980];
        yield 'killed' => [[], '', 1550];
        yield 'killed long ago' => [$found, '', 1560];
        yield 'given back' => [$found, ' | release 991 1 | released 992 1', 993];
        yield 'left' => [[], ' | abandon 991 1', 1540];
        yield 'left long ago' => [$found, ' | abandon 991 1', 1550];
        yield 'being given back when it was killed' => [$found, ' | release 991 1', 1550];
    }

    /**
     * @param list<string> $expected
     */
    #[DataProvider('stops')]
    public function testLockIsFreeATtlAfterItsWorkerWasStopped(
        array $expected,
        string $faults,
        int $tried,
        string $end = ' | gone 3001 1 | told 3001 1 why',
    ): void {
        $tale = (new Tale())
            ->faults($faults)
            ->tell('a', "try 1 1 1 r x try 300 | granted 2 1 1 | held 990 1$end", self::TRAITS)
            ->tell('b', "try $tried 1 1 r x try 300 | conflict $tried 1", 'expiring,fencing')
            ->tell('d', 'try 1 1 1 q x try 300 | granted 2 1 1', 'expiring,fencing');

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{0: list<string>, 1: string, 2: int, 3?: string}>
     */
    public static function stops(): iterable
    {
        $stop = 'stop 1000 a | continue 3000 a';

        yield 'for long' => [['lost grant: a #1, b #1'], $stop, 1560];
        yield 'and killed' => [
            ['lost grant: a #1, b #1'], 'stop 1000 a | kill 1100 a | ended 1101 a signal-9', 1560, '',
        ];
        yield 'within that' => [[], $stop, 1550];
        yield 'when a renewal may have waited in the server' => [[], "$stop | server-stop 900 - 1600", 1610];
        yield 'for less' => [[], 'stop 1000 a | continue 1550 a | server-stop 2500 - 2990', 1560];
    }

    public function testSomeLocksAreKeptForLongerThanTheirTtl(): void
    {
        $short = 'try 1 1 1 r x try 300 | granted 2 1 1 | held 301 1 | release 302 1 | released 303 1';
        $history = static fn (string $records): Tale => (new Tale())->tell('a', $records, self::TRAITS);

        self::assertSame([], $history("$short | end 19999")->violations(), 'not in a short time');
        self::assertSame(['lost'], $history("$short | end 20000")->violations());
        self::assertSame([], $history(self::KEPT . ' | end 20000')->violations());
    }

    public function testTellsHowLongLocksWereKept(): void
    {
        $keeping = new Keeping();
        $tale = (new Tale())
            ->tell('a', self::KEPT . ' | gone 3001 1 | told 3002 1 why | try 4000 2 2 q s try 300 | granted 4001 2 -', self::TRAITS)
            ->tell('b', self::KEPT, 'expiring,fencing');
        iterator_to_array($keeping->violations($tale->history()), false);

        self::assertSame(
            [2, 1, 1, 2_998_000_000],
            [$keeping->kept, $keeping->outlasted, $keeping->lost, $keeping->longest],
        );
    }
}
