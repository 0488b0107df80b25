<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use Latch\Tests\Fault\Broken\Breakage;
use Latch\Tests\Fault\Check\Findings;
use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Run\Folder;
use Latch\Tests\Fault\Run\Options;
use Latch\Tests\Fault\Run\Report;
use Latch\Tests\Fault\Run\Run;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

/**
 * From the workers to the report: what is wrong with a store that is broken on purpose is found in a short
 * run, and nothing is found when it is not broken.
 */
final class BrokenLocksTest extends TestCase
{
    /** What depends on chance is found in one of so many runs, most often in the first. */
    private const RUNS = 30;

    #[DataProvider('breakages')]
    public function testBrokenLockIsFoundOut(Breakage $breakage): void
    {
        $expected = $breakage->expected();
        self::assertNotNull($expected);
        $runs = 0;
        do {
            $findings = $this->play($breakage, match (true) {
                $breakage->handsOver() => 500,
                $breakage->keeps() => 35,
                $breakage->needsTable() => 500,
                default => 1000,
            }, $report);
        } while (!isset($findings->counts[$expected->value]) && ++$runs < self::RUNS);

        self::assertArrayHasKey($expected->value, $findings->counts, $report);
    }

    #[TestWith([Breakage::None, 5000])]
    #[TestWith([Breakage::NoneHandedOver, 2000])]
    #[TestWith([Breakage::NoneKept, 60])]
    #[TestWith([Breakage::NoneInSessions, 3000])]
    #[TestWith([Breakage::NoneInTables, 1000])]
    public function testNothingIsFoundWhereNothingIsBroken(Breakage $none, int $acquisitions): void
    {
        $findings = $this->play($none, $acquisitions, $report);

        self::assertSame([], $findings->counts, $report);
    }

    /**
     * @param-out string $report
     */
    private function play(Breakage $breakage, int $acquisitions, ?string &$report): Findings
    {
        $options = new Options();
        $options->broken = $breakage;
        $options->latch = $options->symfony = $options->pdo = 0;
        $options->store = $breakage->store() ?? 'redis';
        $options->resources = match (true) {
            $breakage->handsOver(), $breakage->needsTable() => 1,
            $breakage->keeps() => 4,
            default => 2,
        };
        // Who is killed explains that others wait; rows of a table stay for seconds.
        $options->pause = $breakage->handsOver() || $breakage->needsTable() ? 2000 : 200;
        $options->acquisitions = $acquisitions;
        $options->limit = 30;
        $folder = new Folder();

        $run = new Run($options, $folder->path);
        $complete = $run->play();
        $history = new History($folder->path);
        $findings = new Findings($history);
        $report = "seed $options->seed\n" . (new Report($history, $findings))->text() . $run->errors;

        self::assertTrue($complete, $report);
        self::assertSame('', $run->errors, $report);
        self::assertNotSame([], $history->faults->counts, $report);

        return $findings;
    }

    /**
     * @return iterable<string, array{Breakage}>
     */
    public static function breakages(): iterable
    {
        foreach (Breakage::cases() as $breakage) {
            if ($breakage->expected() !== null) {
                yield $breakage->value => [$breakage];
            }
        }
    }

    /**
     * @param list<string> $arguments
     */
    #[DataProvider('commands')]
    public function testCommandSaysAndEndsAsItShould(array $arguments, int $status, string $output): void
    {
        $command = [\PHP_BINARY, __DIR__ . '/../run.php', ...$arguments];
        $both = (string) tempnam(sys_get_temp_dir(), 'latch');
        $process = proc_open($command, [1 => ['file', $both, 'a'], 2 => ['file', $both, 'a']], $pipes);
        self::assertIsResource($process);
        $ended = proc_close($process);
        $said = (string) file_get_contents($both);
        unlink($both);

        self::assertSame($status, $ended, $said);
        self::assertMatchesRegularExpression($output, $said);
    }

    /**
     * @return iterable<string, array{list<string>, int, string}>
     */
    public static function commands(): iterable
    {
        $run = ['--acquisitions=300', '--limit=30', '--no-faults', '--seed=7'];

        yield 'nothing wrong' => [[...$run, '--broken=nothing-broken'], 0, '/^seed 7\n.*\nNo violation\.\n/s'];
        yield 'something wrong' => [[...$run, '--broken=repeats-tokens'], 1, '/^seed 7\n.*\nFENCING: \d+, /s'];
        yield 'too few' => [
            ['--acquisitions=100000', '--limit=1', '--broken=nothing-broken'], 1, '/Too few acquisitions in 1 s/',
        ];
        yield 'no number' => [['--acquisitions=-1'], 64, "/^tests\\/fault\\/run: '--acquisitions=-1' is no whole/"];
        yield 'no store' => [['--store=paper'], 64, "/redis, redis-string, sentinel, cluster, quorum, flock, postgresql, mysql, table-postgresql, table-mysql, table-sqlite, not 'paper'/"];
        yield 'nobody' => [['--latch=0', '--symfony=0'], 64, '/no workers/'];
        yield 'no empty folder' => [['--keep=' . __DIR__], 64, "/no empty folder '/"];
        yield 'nowhere to keep locks alive' => [['--store=flock', '--keepers=1'], 64, '/--keepers is about locks in Redis/'];
        yield 'no slots to be moved' => [['--moves=1'], 64, '/--moves and --reshard-only are for --store=cluster/'];
        yield 'moves alone' => [
            ['--store=cluster', '--reshard-only', '--failovers=1'], 64, '/with --reshard-only there are no --failovers/',
        ];
        yield 'objects that crash' => [['--store=cluster', '--objects=1'], 64, '/--objects goes with --reshard-only/'];
        yield 'too many groups' => [['--groups=9'], 64, '/more groups than resources/'];
        yield 'no table to name rows of' => [['--names=plain'], 64, '/--names is for tables/'];
        yield 'no release' => [['--store=table-mysql', '--releases=9.0'], 64, "/--releases knows no '9.0'/"];
        yield 'releases with other names' => [
            ['--store=table-mysql', '--names=hash', '--releases=8.1'], 64, '/--names=hash does not go with these releases/',
        ];
        yield 'releases that share a group' => [
            ['--store=table-mysql', '--names=both', '--releases=7.4,8.1', '--groups=3'], 64, '/need groups of their own/',
        ];
        yield 'a clock that rounds' => [['--store=table-postgresql', '--releases=7.4,5.4'], 64, '/release 5.4 is by itself/'];
        yield 'no folder for the report' => [['--report=/no/such/report.md'], 64, "/no folder for '/"];
        yield 'unknown' => [['--fast'], 64, "/unknown argument '--fast'/"];
    }
}
