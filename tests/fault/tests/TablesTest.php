<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use Latch\Tests\Fault\Check\Findings;
use Latch\Tests\Fault\Record\Teller;
use Latch\Tests\Fault\Worker\TablePlace;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

/**
 * Locks that are rows of a table: they last for up to a second and a half longer than their TTL, and some stores hide the errors of
 * their database behind refusals.
 */
final class TablesTest extends TestCase
{
    private const TRAITS = Teller::EXPIRING . ',' . Teller::WHOLE_SECONDS . ',' . Teller::TTL_IN_SECONDS;

    #[TestWith([2500, false])]
    #[TestWith([2600, true])]
    public function testRowLastsUntilTheEndOfTheSecond(int $refused, bool $isLost): void
    {
        $tale = (new Tale())
            ->tell('a', 'try 1 1 1 r x try 1000 | granted 2 1 - | held 3 1 | abandon 4 1', self::TRAITS)
            ->tell('b', "try $refused 1 1 r x try 1000 | conflict " . $refused + 1 . ' 1', self::TRAITS);

        self::assertSame($isLost, isset((new Findings($tale->history()))->counts['lost grant']));
    }

    /** A worker that was stopped in its attempt may have had the row meanwhile; one that was not had nothing. */
    #[TestWith(['stop 110 a | continue 2000 a', false])]
    #[TestWith(['stop 3000 a | continue 3001 a', true])]
    public function testWaiterBehindAStoppedAttempt(string $faults, bool $isFound): void
    {
        $queue = self::TRAITS . ',' . Teller::FIRST_COME . ',' . Teller::ASKS_AGAIN;
        $tale = (new Tale())
            ->faults($faults)
            ->tell('a', 'try 1 1 1 s x try 1000 | conflict 2 1 | try 100 2 2 r x wait 1000 | failed 2001 2 LockExpiredException', self::TRAITS)
            ->tell('b', 'try 1 1 1 s x try 1000 | conflict 2 1 | try 200 2 2 r x wait 1000 | granted 1700 2 - | held 1701 2'
                . ' | release 1702 2 | released 1703 2', $queue);

        self::assertSame($isFound, isset((new Findings($tale->history()))->counts['idle']));
    }

    /** Its row had expired, others had the lock, and refresh() took it anew. */
    #[TestWith([self::TRAITS, true])]
    #[TestWith([self::TRAITS . ',' . Teller::REVIVES, false])]
    public function testLockThatRefreshTakesAnewWasNotHeldInBetween(string $traits, bool $isFound): void
    {
        $tale = (new Tale())
            ->tell('a', 'try 1 1 1 r x try 1000 | granted 2 1 - | held 3 1 | renew 1990 1 | renewed 1991 1 | held 2000 1', $traits)
            ->tell('b', 'try 1100 1 1 r x try 1000 | granted 1101 1 - | held 1200 1 | release 1201 1 | released 1202 1', self::TRAITS);

        self::assertSame($isFound, isset((new Findings($tale->history()))->counts['overlap']));
    }

    /** Not one that was renewed in time, however soon it would have expired. */
    public function testLockThatIsRenewedInTimeIsHeldAllTheTime(): void
    {
        $tale = (new Tale())
            ->tell('a', 'try 1 1 1 r x try 1000 | granted 2 1 - | held 3 1 | renew 999 1 | renewed 1000 1 | held 1500 1',
                self::TRAITS . ',' . Teller::REVIVES)
            ->tell('b', 'try 1100 1 1 r x try 1000 | granted 1101 1 - | held 1200 1 | release 1201 1 | released 1202 1', self::TRAITS);

        self::assertArrayHasKey('overlap', (new Findings($tale->history()))->counts);
    }

    public function testRefusalThatMayBeAnErrorIsNoLostGrant(): void
    {
        $refused = 'try 5 1 1 r x try 1000 | conflict 6 1';
        $lost = (new Tale())->tell('a', $refused, self::TRAITS);
        $hidden = (new Tale())->tell('a', $refused, self::TRAITS . ',' . Teller::HIDES_ERRORS);

        self::assertArrayHasKey('lost grant', (new Findings($lost->history()))->counts);
        self::assertArrayNotHasKey('lost grant', (new Findings($hidden->history()))->counts);
    }

    /** What is refused after a wait may be granted still, and be a row for the TTL, when its connection is cut. */
    #[TestWith([3700, false])]
    #[TestWith([3900, true])]
    public function testRowOfAWaiterThatGaveUpLastsForItsTtl(int $refused, bool $isLost): void
    {
        $tale = (new Tale())
            ->faults('connection-kill 11 a 11')
            ->tell('a', 'try 1 1 1 r x 9 2000 | conflict 10 1 | end 11', self::TRAITS . ',' . Teller::LATE_RELEASE)
            ->tell('b', "try $refused 1 1 r x try 1000 | conflict " . $refused + 1 . ' 1', self::TRAITS);

        self::assertSame($isLost, isset((new Findings($tale->history()))->counts['lost grant']));
    }

    #[DataProvider('exceptions')]
    public function testDeadlockIsNoException(
        string $kind,
        string $exception,
        bool $isFound,
        string $traits = self::TRAITS
    ): void
    {
        $tale = (new Tale())->scrawl('a', "worker 0 $kind 1 " . $traits . "\ntry 1 1 1 r x try 1000\nfailed 2 1 $exception\n");

        self::assertSame($isFound, isset((new Findings($tale->history()))->counts['deadlock']));
    }

    /**
     * @return iterable<string, array{string, string, bool}>
     */
    public static function exceptions(): iterable
    {
        $deadlock = 'PDOException:SQLSTATE[40001]:_Serialization_failure:_1213_Deadlock_found';
        yield 'MariaDB' => ['pdo', $deadlock, true];
        yield 'PostgreSQL' => ['latch', 'LockStorageException:40P01_deadlock_detected', true];
        yield 'a lock timeout' => ['pdo', 'PDOException:SQLSTATE[HY000]:_1205_Lock_wait_timeout_exceeded', true];
        yield 'another exception' => ['latch', 'LockStorageException:cannot_connect_to_127.0.0.1:12130', false];
        yield 'advisory locks' => ['pdo', $deadlock, false, Teller::SESSION];
        yield 'another program' => ['symfony-7.4', $deadlock, false];
    }

    public function testPlaceIsAsItWasWritten(): void
    {
        $place = new TablePlace("mysql:host=127.0.0.1;user='a&b';password=c+d", TablePlace::LARAVEL, 'both', 0.05);

        self::assertEquals($place, TablePlace::of((string) $place));
        self::assertNull(TablePlace::of('mysql:host=127.0.0.1'));
        self::assertSame('mysql', $place->driver());
    }
}
