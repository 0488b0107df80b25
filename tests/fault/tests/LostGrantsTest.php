<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * Somebody is refused: was there anybody who can have held it?
 */
final class LostGrantsTest extends TestCase
{
    private const HELD = 'try 1 1 1 r x try 100 | granted 2 1 - | held 10 1';
    private const READ = 'try 1 1 1 r s try 100 | granted 2 1 - | held 10 1';

    #[DataProvider('explained')]
    public function testRefusedForAReason(string $holder, string $refused, string $traits = 'expiring'): void
    {
        $tale = (new Tale())->tell('a', $holder, $traits)->tell('b', $refused, $traits)->tell('c', self::one());

        self::assertSame([], $tale->violations());
    }

    /**
     * @return iterable<string, array{0: string, 1: string, 2?: string}>
     */
    public static function explained(): iterable
    {
        yield 'held' => [self::HELD, self::refused(5, 6)];
        yield 'held at the beginning' => [self::HELD . ' | release 11 1 | released 12 1', self::refused(12, 20)];
        yield 'held at the end' => [self::HELD, self::refused(0.5, 1)];
        yield 'killed, and the TTL not over' => [self::HELD, self::refused(101, 102)];
        yield 'killed while it tried, before its TTL is over' => ['try 1 1 1 r x try 100', self::refused(90, 91)];
        yield 'nobody knows what came of it' => [
            'try 1 1 1 r x try 100 | failed 2 1 Exception | abandon 3 1', self::refused(90, 91),
        ];
        yield 'refreshed' => [self::HELD . ' | renew 90 1 | renewed 91 1', self::refused(190, 191)];
        yield 'killed while it refreshed' => [self::HELD . ' | renew 90 1', self::refused(190, 191)];
        yield 'nobody knows whether it was released' => [
            self::HELD . ' | release 11 1 | unreleased 12 1 Exception', self::refused(100, 101),
        ];
        yield 'left to expire' => [self::HELD . ' | abandon 12 1', self::refused(100, 101)];
        yield 'a writer among readers' => [self::READ, self::refused(5, 6)];
        yield 'a reader after a promotion' => [
            self::READ . ' | try 11 2 1 r x try 100 | granted 12 2 -', self::refused(20, 21, 's'),
        ];
        yield 'two steps, of which the second one came too late' => [
            'try 1 1 1 r x try 100 | conflict 150 1', self::refused(25, 26), 'expiring,two-steps',
        ];
        yield 'a lock that does not expire' => [self::HELD, self::refused(9, 10), '-'];
        yield 'sent off by a destructor, which nobody has confirmed' => [
            self::HELD . ' | drop 11 1 | dropped 11 1', self::refused(90, 91), 'expiring,late-release',
        ];
        yield 'sent off by a destructor to a server, while another one has answered since' => [
            self::HELD . ' | drop 11 1 | dropped 11 1 | try 11 2 2 q x try 100 | granted 12 2 -', self::refused(90, 91),
            'expiring,late-release,scattered',
        ];
    }

    #[DataProvider('unexplained')]
    public function testRefusedForNoReason(string $holder, string $refused, string $by, string $traits = 'expiring'): void
    {
        $tale = (new Tale())->tell('a', $holder, $traits)->tell('b', $refused, $traits)->tell('c', self::one());

        self::assertSame("lost grant: $by", implode(', ', $tale->violations()));
    }

    /**
     * @return iterable<string, array{0: string, 1: string, 2: string, 3?: string}>
     */
    public static function unexplained(): iterable
    {
        $released = self::HELD . ' | release 11 1 | released 12 1';

        yield 'released' => [$released, self::refused(13, 14), 'a #1, b #1'];
        yield 'released by a destructor' => [
            self::HELD . ' | drop 11 1 | dropped 12 1', self::refused(13, 14), 'a #1, b #1',
        ];
        yield 'sent off by a destructor, and answered since' => [
            self::HELD . ' | drop 11 1 | dropped 11 1 | try 11 2 2 q x try 100 | granted 12 2 -',
            self::refused(13, 14), 'a #1, b #1', 'expiring,late-release',
        ];
        yield 'sent off by a destructor, and answered by that server since' => [
            self::HELD . ' | drop 11 1 | dropped 11 1 | try 11 2 1 r x try 100 | conflict 12 2',
            self::refused(13, 14), 'a #2, lost grant: a #1, b #1', 'expiring,late-release,scattered',
        ];
        yield 'never held' => ['end 1', self::refused(13, 14), 'b #1'];
        yield 'refused' => ['try 1 1 1 r x try 100 | conflict 2 1', self::refused(13, 14), 'a #1, lost grant: b #1'];
        yield 'told that it is lost' => [
            self::HELD . ' | renew 11 1 | lost 12 1', self::refused(13, 14), 'a #1, b #1',
        ];
        yield 'killed, and the TTL over' => [self::HELD, self::refused(110, 111), 'a #1, b #1'];
        yield 'killed while it tried, long ago' => ['try 1 1 1 r x try 100', self::refused(400, 401), 'a #1, b #1'];
        yield 'a reader among readers' => [self::READ, self::refused(5, 6, 's'), 'b #1'];
        yield 'a reader after a demotion' => [
            self::HELD . ' | try 11 2 1 r s try 100 | granted 12 2 -', self::refused(20, 21, 's'), 'a #1, b #1',
        ];
        yield 'a promotion with no other reader' => [
            'end 1', 'try 1 1 1 r s try 100 | granted 2 1 - | held 3 1 | try 4 2 1 r x try 100 | conflict 5 2', 'b #2',
        ];
        yield 'a lock that ended with its process' => [self::HELD, self::refused(13, 14), 'a #1, b #1', '-'];
    }

    #[DataProvider('waits')]
    public function testWhoWaitedInVain(int $until, string $faults, string ...$expected): void
    {
        $tale = (new Tale())
            ->faults($faults)
            ->tell('a', "try 1000 1 1 r x 90 100 | conflict $until 1")
            // May have met a, who had it for a moment before it was refused.
            ->tell('b', self::refused(1025, 1026))
            ->tell('c', self::one());

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{0: int, 1: string, 2?: string}>
     */
    public static function waits(): iterable
    {
        yield 'for long' => [1101, 'script-flush 1050', 'lost grant: a #1'];
        yield 'too short for an answer' => [1090, 'script-flush 1050'];
        yield 'while the server paused' => [1101, 'client-pause 990'];
        yield 'long after the server had paused' => [1101, 'client-pause 700', 'lost grant: a #1'];
        yield 'while connections were cut' => [1101, 'client-kill 1050'];
        yield 'while it was stopped' => [1101, 'stop 900 a | continue 1001 a'];
        yield 'after it had been stopped' => [1101, 'stop 900 a | continue 999 a', 'lost grant: a #1'];
        yield 'while another one was stopped' => [1101, 'stop 900 b | continue 1001 b', 'lost grant: a #1'];
    }

    public function testConnectionThatWasCutMayHaveTakenTheReleaseWithIt(): void
    {
        $holder = self::HELD . ' | drop 11 1 | dropped 11 1 | try 11 2 2 q x try 100 | granted 12 2 -';
        $tale = (new Tale())
            ->faults('client-kill 10.9')
            ->tell('a', $holder, 'expiring,late-release')
            ->tell('b', self::refused(13, 14), 'expiring')
            ->tell('c', self::one());

        self::assertSame([], $tale->violations());
    }

    public function testEndOfAWaitThatNobodyHasConfirmedMayTakeTheLockForAClaimWindow(): void
    {
        $traits = 'expiring,late-release,first-come';
        $waited = 'try 1 1 1 r x 1 100 | conflict 3 1';
        $tale = static fn (string $refused): Tale => (new Tale())
            ->tell('a', $waited, $traits)
            ->tell('b', $refused, 'expiring')
            ->tell('c', self::one());

        self::assertSame([], $tale(self::refused(1200, 1201))->violations());
        self::assertSame(['lost grant: a #1, b #1'], $tale(self::refused(1300, 1301))->violations());
        self::assertSame(
            ['lost grant: a #1, b #1'],
            (new Tale())
                ->tell('a', "$waited | try 4 2 2 q x try 9 | granted 5 2 -", $traits)
                ->tell('b', self::refused(6, 7), 'expiring')
                ->tell('c', self::one())
                ->violations(),
            'the next answer confirms it',
        );
    }

    public function testReaderStandsBehindAReaderThatWaits(): void
    {
        $waits = 'try 1 1 1 r s wait 100 | granted 9 1 - | held 10 1';

        self::assertSame([], (new Tale())
            ->tell('a', $waits, 'expiring,first-come')
            ->tell('b', self::refused(2, 3, 's'), 'expiring,first-come')
            ->violations());
        self::assertSame(['lost grant: b #1'], (new Tale())
            ->tell('a', $waits, 'expiring')
            ->tell('b', self::refused(2, 3, 's'), 'expiring')
            ->tell('c', self::one())
            ->violations());
    }

    public function testReaderThatDoesNotWaitGivesWayToOneThatDoes(): void
    {
        $waits = 'try 1 1 1 r s wait 100 | granted 9 1 - | held 10 1';
        $told = static fn (string $waiter, string $attempt, int $at): array => (new Tale())
            ->tell('a', $waits, $waiter)
            ->tell('b', self::refused($at, $at + 1, 's'), $attempt)
            ->tell('c', self::one())
            ->violations();

        self::assertSame([], $told('gives-way', 'gives-way', 2));
        self::assertSame(['lost grant: b #1'], $told('gives-way', '-', 2), 'a process that does not look for waiters');
        self::assertSame(['lost grant: b #1'], $told('-', 'gives-way', 2), 'a waiter that cannot be seen');
        self::assertSame(['lost grant: b #1'], $told('gives-way', 'gives-way', 12), 'a wait that is over');
    }

    public function testKernelsLockEndsWhenItsProcessIsSeenDead(): void
    {
        $tale = (new Tale())
            ->faults('kill 40 a | ended 50 a signal-9')
            ->tell('a', self::HELD, '-')
            ->tell('b', self::refused(45, 46) . ' | try 60 2 2 r x try 9 | conflict 61 2', '-')
            ->tell('c', self::one());

        self::assertSame(['lost grant: a #1, b #2'], $tale->violations());
    }

    private static function refused(float $from, float $until, string $mode = 'x'): string
    {
        return "try $from 1 1 r $mode try 100 | conflict $until 1";
    }

    /** Somebody who gets something elsewhere, so that nobody starves. */
    private static function one(): string
    {
        return 'try 1 1 1 elsewhere s try 1 | granted 2 1 - | end 3';
    }
}
