<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * Locks on several resources: each member is a lock, and the whole is had at once or not at all.
 */
final class MultiLocksTest extends TestCase
{
    private const TRAITS = 'expiring,late-release';
    private const HELD = 'try 1 1 1 p:x+q:s m try 99 | granted 2 1 - | held 10 1';

    /**
     * @param list<string> $expected
     */
    #[DataProvider('others')]
    public function testBesideAMultiLock(string $other, array $expected): void
    {
        $tale = (new Tale())->tell('a', self::HELD, self::TRAITS)->tell('b', $other, self::TRAITS);

        self::assertSame($expected, array_values(array_filter(
            $tale->violations(),
            static fn (string $violation): bool => !str_starts_with($violation, 'starvation'),
        )));
    }

    /**
     * @return iterable<string, array{string, list<string>}>
     */
    public static function others(): iterable
    {
        yield 'a lock on what it writes' => ['try 3 1 1 p s try 99 | granted 4 1 - | held 5 1', ['overlap: a #1, b #1']];
        yield 'a lock on what it reads' => ['try 3 1 1 q x try 99 | granted 4 1 - | held 5 1', ['overlap: a #1, b #1']];
        yield 'a reader of what it reads' => ['try 3 1 1 q s try 99 | granted 4 1 - | held 5 1', []];
        yield 'another one that shares its writing' => [
            'try 3 1 1 o:x+p:x m try 99 | granted 4 1 - | held 5 1', ['overlap: a #1, b #1'],
        ];
        yield 'another one that shares its reading' => ['try 3 1 1 o:x+q:s m try 99 | granted 4 1 - | held 5 1', []];
        yield 'another one when it was over' => [
            'try 3 1 1 p:x+q:x m try 99 | granted 11 1 - | held 12 1', [],
        ];
        yield 'refused for one of them' => ['try 3 1 1 o:x+q:x m try 99 | conflict 4 1', []];
        yield 'refused for none of them' => ['try 3 1 1 o:x+q:s m try 99 | conflict 4 1', ['lost grant: b #1']];
        yield 'refused although it is over' => ['try 300 1 1 p:x+q:x m try 99 | conflict 301 1', ['lost grant: b #1']];
        yield 'refused for a while that it had only tried' => ['try 300 1 1 o:x m try 99 | conflict 301 1', ['lost grant: b #1']];
    }

    public function testRefusedOneHadSomeOfItsMembersForAMoment(): void
    {
        $tale = (new Tale())
            ->tell('a', 'try 1 1 1 p:x+q:x m try 99 | granted 2 1 - | held 50 1', self::TRAITS)
            ->tell('b', 'try 4 1 1 o:x+p:x m try 99 | conflict 9 1 | try 10 2 2 n x try 9 | granted 11 2 -', self::TRAITS)
            ->tell('c', 'try 5 1 1 o x try 99 | conflict 6 1 | try 20 2 2 o x try 9 | conflict 21 2', self::TRAITS);

        self::assertContains('lost grant: b #1, c #2', $tale->violations());
        self::assertNotContains('lost grant: b #1, c #1', $tale->violations());
        self::assertNotContains('lost grant: c #1', $tale->violations());
    }

    public function testTokensRiseOverMultiLocksAndLocks(): void
    {
        $traits = 'expiring,fencing';
        $tale = (new Tale())
            ->tell('a', 'try 1 1 1 p:x+q:s m try 99 | granted 2 1 7+- | held 3 1 | try 4 2 1 p:x+q:s m try 99 | granted 5 2 7+-', $traits)
            ->tell('b', 'try 200 1 1 p x try 99 | granted 201 1 6', $traits);

        self::assertSame(['fencing: a #1, b #1'], $tale->violations());
    }

    /**
     * @param list<string> $expected
     */
    #[DataProvider('waits')]
    public function testWaits(string $holder, string $waiter, array $expected): void
    {
        $tale = (new Tale())->tell('a', $holder, self::TRAITS)->tell('b', $waiter, self::TRAITS);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{string, string, list<string>}>
     */
    public static function waits(): iterable
    {
        $held = 'try 1 1 1 p x try 99000 | granted 2 1 - | held 10 1 | release 3000 1 | released 3001 1';
        $rest = 'try 90000 2 2 n x try 9 | granted 90001 2 -';

        yield 'for a member' => [$held, 'try 5 1 1 o:x+p:x m wait 99 | granted 3050 1 - | held 3051 1', []];
        yield 'for nothing' => [$held, 'try 5 1 1 o:x+q:x m wait 99 | granted 4050 1 - | held 4051 1', ['idle: b #1']];
        yield 'for long after all are free' => [
            $held, 'try 5 1 1 o:x+p:x m wait 99 | granted 7050 1 - | held 7051 1', ['idle: b #1'],
        ];
        yield 'for ever' => [
            'try 1 1 1 p x try 99000 | granted 2 1 - | held 10 1 | release 40000 1 | released 40001 1',
            'try 5 1 1 o:x+p:x m wait 99 | granted 40002 1 - | held 40003 1', ['late: b #1'],
        ];
        yield 'for longer than it was to' => [$held, "try 5 1 1 o:x+p:x m 100 99 | conflict 900 1 | $rest", ['late: b #1']];
        yield 'not as long as it was to' => [$held, "try 5 1 1 o:x+p:x m wait 99 | conflict 900 1 | $rest", ['gave up: b #1']];
    }
}
