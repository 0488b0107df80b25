<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use Latch\Tests\Fault\Check\Findings;
use Latch\Tests\Fault\Record\Writer;
use Latch\Tests\Fault\Run\Report;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * What is read from the records, and what in them cannot be true.
 */
final class RecordsTest extends TestCase
{
    private const HELD = 'try 1 1 1 r x try 99 | granted 2 1 - | held 10 1';

    /**
     * @param list<string> $expected
     */
    #[DataProvider('holds')]
    public function testHoldMustHaveBeenGranted(string $records, array $expected): void
    {
        $tale = (new Tale())
            ->tell('a', $records, 'expiring')
            ->tell('b', 'try 1 1 1 q s try 9 | granted 2 1 - | held 9 1', '-');

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, array{string, list<string>}>
     */
    public static function holds(): iterable
    {
        yield 'granted' => [self::HELD, []];
        yield 'not tried' => ['held 1 1', ['never granted']];
        yield 'not yet granted' => ['try 1 1 1 r x try 99 | held 2 1', ['never granted']];
        yield 'refused' => [
            'try 1 1 1 r x try 99 | conflict 2 1 | held 3 1', ['lost grant: a #1', 'never granted'],
        ];
        yield 'failed' => ['try 1 1 1 r x try 99 | failed 2 1 E | held 3 1', ['never granted: a #1']];
        yield 'before it was granted' => [
            'try 1 1 1 r x try 99 | granted 5 1 - | held 4 1', ['never granted: a #1'],
        ];
        yield 'after the release began' => [
            self::HELD . ' | release 11 1 | held 12 1', ['never granted: a #1'],
        ];
        yield 'after the release' => [self::HELD . ' | release 11 1 | released 12 1 | held 13 1', ['never granted']];
        yield 'after it was lost' => [self::HELD . ' | renew 11 1 | lost 12 1 | held 13 1', ['never granted: a #1']];
        yield 'another one' => [self::HELD . ' | held 11 2', ['never granted']];
        yield 'after another mode has taken its place' => [
            self::HELD . ' | try 11 2 1 r s try 99 | granted 12 2 - | held 13 1', ['never granted'],
        ];
        yield 'a refused promotion leaves the reader what it had' => [
            'try 1 1 1 q s try 99 | granted 2 1 - | try 3 2 1 q x try 99 | conflict 4 2 | held 5 1', [],
        ];
    }

    public function testKilledWorkerHasHeldUntilItsLastRecord(): void
    {
        $tale = (new Tale())
            ->faults('kill 70 a | ended 80 a signal-9')
            ->tell('a', self::HELD, 'expiring')
            // The kill cut its last record short.
            ->scrawl('a', 'held 50000000 1');
        $hold = $tale->history()->holds['r'][0];

        self::assertSame(10_000_000, $hold->certainUntil);
        self::assertSame([], $tale->violations());
    }

    public function testWorkerThatWasKilledBeforeItsFirstRecordIsNoMatter(): void
    {
        $tale = (new Tale())->faults('kill 70 a | ended 80 a signal-9')->scrawl('a', 'wor')->tell('b', self::HELD, '-');

        self::assertSame([], $tale->violations());
    }

    public function testWhatIsNoRecordIsRefused(): void
    {
        $this->expectExceptionMessageMatches('/a\.records, line 3: no record: "hold"$/');
        (new Tale())->tell('a', 'try 1 1 1 r x try 9 | hold 2 1')->history();
    }

    #[DataProvider('ends')]
    public function testEndsOfWorkers(string $faults, string ...$expected): void
    {
        $tale = (new Tale())->faults($faults)->tell('a', self::HELD, '-');

        self::assertSame($expected, $tale->violations());
    }

    /**
     * @return iterable<string, list<string>>
     */
    public static function ends(): iterable
    {
        yield 'by itself' => ['ended 80 a exit-0'];
        yield 'killed' => ['kill 70 a | ended 80 a signal-9'];
        yield 'killed by nobody' => ['ended 80 a signal-9', 'crash'];
        yield 'crashed' => ['ended 80 a signal-11', 'crash'];
        yield 'a fatal error' => ['ended 80 a exit-255', 'crash'];
        yield 'hung' => ['ended 80 a hung', 'crash'];
    }

    public function testWhoNeverGetsAnythingStarves(): void
    {
        $busy = 'try 0 1 1 r x try 99999 | granted 1 1 - | held 18000 1';
        $hungry = 'try 1 1 1 r x try 9 | conflict 2 1 | try 12000 2 2 r x try 9 | conflict 12001 2';
        $late = 'try 11998 1 1 r x try 9 | conflict 11999 1';
        $tale = (new Tale())->tell('a', $busy, '-')->tell('b', $hungry, '-');

        self::assertSame(['starvation'], $tale->violations());
        self::assertSame([], (new Tale())->tell('a', $busy, '-')->tell('b', "$late | end 12001", '-')
            ->violations(), 'a short time is not enough to starve');
    }

    public function testReportShowsWhatIsWrongWithBothRecords(): void
    {
        $tale = (new Tale())
            ->faults('stop 3 a | continue 4 a | script-flush 5')
            ->tell('a', self::HELD, '-')
            ->tell('b', 'try 1 1 1 r x try 99 | granted 9 1 - | held 12 1', '-');
        $history = $tale->history();
        $text = (new Report($history, new Findings($history)))->text();

        self::assertStringContainsString("OVERLAP: 1, two held a lock at once that only one can hold\n", $text);
        self::assertStringContainsString('both held for 0.001000 s', $text);
        self::assertMatchesRegularExpression(
            '/ a #1 \(pid 1\) exclusive "r", does not wait: tried 0\.001000, granted 0\.002000, certain until 0\.010000,.*\n'
                . ' +b #1 \(pid 1\) exclusive "r", does not wait: tried 0\.001000, granted 0\.009000, certain until 0\.012000,/',
            $text,
        );
        self::assertMatchesRegularExpression('/^SIGSTOP of a worker +1 +1 +0 +0 +0$/m', $text);
        self::assertMatchesRegularExpression('/^SCRIPT FLUSH +1$/m', $text);
        self::assertMatchesRegularExpression('/^r +2 +0\.007$/m', $text);
    }

    public function testRecordIsWrittenAtOnce(): void
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'latch');
        try {
            $writer = new Writer($file);
            $writer->write('held', 123, 4, 'x');
            self::assertSame("held 123 4 x\n", file_get_contents($file));
            $writer->write('end', 124);
            self::assertSame("held 123 4 x\nend 124\n", file_get_contents($file));
        } finally {
            unlink($file);
        }
    }
}
