<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * Locks that a majority of servers grants: what one server has kept, or two have divided among them, is nobody's
 * and can keep others from it, until it expires and no longer.
 */
final class QuorumTest extends TestCase
{
    private const TRAITS = 'expiring,votes';
    private const HELD = 'try 1 1 1 r x try 2000 | granted 2 1 - | held 50 1';
    private const RELEASED = self::HELD . ' | release 51 1 | released 52 1';

    /**
     * @param list<string> $expected
     */
    #[DataProvider('refusals')]
    public function testNobodyIsRefusedForWhatNoMemberCanHave(
        array $expected,
        string $faults,
        string $told,
        int $time,
    ): void {
        $tale = (new Tale())
            ->faults($faults)
            ->tell('a', $told, self::TRAITS)
            // With whom "a" may have divided the votes.
            ->tell('c', 'try 40 1 1 r x try 9 | conflict 49 1', self::TRAITS)
            ->tell('b', sprintf(
                'try %1$d 1 1 r x try 9 | conflict %2$d 1 | try %2$d 2 2 q x try 9 | granted %3$d 2 -',
                $time,
                $time + 1,
                $time + 2,
            ), self::TRAITS);

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{list<string>, string, string, int}>
     */
    public static function refusals(): iterable
    {
        $found = ['lost grant: a #1, b #1'];
        $refused = 'try 1 1 1 r x try 2000 | conflict 50 1';

        yield 'while it is held' => [[], 'script-flush 1', self::HELD, 900];
        yield 'just given back' => [[], 'script-flush 1', self::RELEASED, 300];
        yield 'given back long before' => [$found, 'script-flush 1', self::RELEASED, 400];
        yield 'given back while a member was dead' => [[], 'member-kill 40 - 45', self::RELEASED, 400];
        yield 'given back while a member was stopped' => [[], 'member-stop 40 - 60', self::RELEASED, 400];
        yield 'given back while connections were cut' => [[], 'member-cut 51 - 51', self::RELEASED, 400];
        yield 'given back before that' => [$found, 'member-kill 100 - 390', self::RELEASED, 400];
        yield 'expired after a member was dead' => [$found, 'member-kill 40 - 45', self::RELEASED, 2100];
        yield 'votes that were divided' => [[], 'script-flush 1', $refused, 45];
        yield 'votes that were divided long before' => [$found, 'script-flush 1', $refused, 400];
        yield 'a vote that a dead member keeps' => [[], 'member-kill 40 - 45', $refused, 400];
    }

    public function testTroubleOfAMemberExcusesNoOverlap(): void
    {
        $tale = (new Tale())
            ->faults('member-kill 5 - 40')
            ->tell('a', self::HELD, self::TRAITS)
            ->tell('b', 'try 20 1 1 r x try 2000 | granted 21 1 - | held 30 1', self::TRAITS);

        self::assertSame(['overlap: a #1, b #1'], $tale->violations());
    }

    public function testWhatOneMemberHasForEverIsLeft(): void
    {
        $tale = (new Tale())->tell('a', self::RELEASED, self::TRAITS)
            ->leftovers('key 3000 latch:peers:r 900 | key 3000 latch:peers:r -1 | key 3000 latch:peers:r 900');

        self::assertSame(['left'], $tale->violations());
    }
}
