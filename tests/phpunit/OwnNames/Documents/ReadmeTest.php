<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Tests\RedisServer;
use Latch\Tests\Support\DocumentTestCase;
use Latch\Tests\Support\Examples;

final class ReadmeTest extends DocumentTestCase
{
    private const ROOT = __DIR__ . '/../../../..';

    private ?RedisServer $server = null;

    protected static function page(): string
    {
        return 'README.md';
    }

    protected function substitutes(): array
    {
        $redis = substr((string) $this->server?->dsn(), \strlen('redis://'));

        return [
            '/var/lock/shop' => $this->directory(),
            'redis.example.com:6379' => $redis,
            'redis.example.com' => $redis,
            'redis://localhost' => "redis://$redis",
        ];
    }

    protected function environment(): array
    {
        return ['LATCH_STORE' => "flock://{$this->directory()}"];
    }

    protected function setUp(): void
    {
        $this->server = new RedisServer();
        parent::setUp();
    }

    public function testTheTwoCommandsAreThere(): void
    {
        $root = escapeshellarg(self::ROOT);
        [$demo, $test] = $this->lines('two-commands-1.sh');

        self::assertStringContainsString(
            '0 lost with the lock',
            $this->shellSaid("cd $root && NO_COLOR=1 $demo --workers=2 --bookings=1000 --no-contrast"),
        );
        // The other one runs this test: by .ci/run, too.
        self::assertStringContainsString("/../$test\"", (string) file_get_contents(self::ROOT . '/.ci/run'));
    }

    /** The stage "install" runs the commands of that section on fresh systems. */
    public function testTheInstallationIsWalked(): void
    {
        self::assertContains('php --ri latch', $this->lines('install-1.sh'));
        self::assertStringContainsString(
            'commands "$README" Install',
            (string) file_get_contents(self::ROOT . '/tools/lib/stages/install.sh'),
        );
    }

    public function testAnInvoiceIsSentUnderTheLock(): void
    {
        self::assertSame('invoice 42, invoice 42, 1 book', $this->said(<<<'PHP'
            function sendInvoice(int $number): void
            {
                global $lock;
                echo $lock->isHeld() ? "invoice $number, " : "no lock, ";
            }
            function book(): void
            {
                global $factory;
                echo $factory->createLock('stock')->acquire() ? 'no lock' : '1 book';
            }
            require example('first-use-1.php');
            PHP));
    }

    public function testAnInvoiceIsNotSentTwice(): void
    {
        self::assertSame("invoice 42 is being sent\n", $this->said(str_replace('DIRECTORY', $this->directory(), <<<'PHP'
            $other = (new Latch\LockFactory(new Latch\Store\FlockStore('DIRECTORY')))->createLock('invoice-42');
            $other->acquire();
            function sendInvoice(int $number): void
            {
                echo "invoice $number, ";
            }
            require example('first-use-1.php');
            PHP)));
    }

    public function testALockInRedisIsKept(): void
    {
        self::assertSame('invoice 42: 1 lock', $this->said(str_replace('PORT', (string) $this->server?->port, <<<'PHP'
            function sendInvoice(int $number): void
            {
                $redis = new Redis();
                $redis->connect('127.0.0.1', PORT);
                echo "invoice $number: ", $redis->exists('shop:invoice-42'), ' lock';
            }
            require example('first-use-2.php');
            PHP)));
    }

    public function testCommandsOfTheShell(): void
    {
        file_put_contents("{$this->directory()}/report.php", '<?php echo "report";');
        file_put_contents("{$this->directory()}/deploy.sh", "#!/bin/sh\necho deployed");
        chmod("{$this->directory()}/deploy.sh", 0755);
        $said = array_map(fn (string $line): string => trim($this->shellSaid($line)), $this->lines('first-use-3.sh'));

        self::assertSame(['report', 'deployed', 'report', 'free'], \array_slice($said, 0, 4));
        self::assertStringEndsWith('0 faults, 0 warnings', $said[4]);
    }

    public function testTheFiguresAreThoseOfTheReport(): void
    {
        $report = (string) file_get_contents(self::ROOT . '/benchmark/report/summary.md');
        [, $table] = explode("## Five figures\n\n", $report);

        self::assertSame(5, substr_count($table, "\n") - 2);
        self::assertStringContainsString("\n" . trim($table) . "\n", Examples::text(self::page()));
    }

    public function testTheHistoriesAreThoseOfTheReport(): void
    {
        $report = (string) file_get_contents(self::ROOT . '/tests/fault/report/queue.md');
        $sum = static function (string $pattern) use ($report): int {
            self::assertGreaterThan(0, preg_match_all("/^$pattern/m", $report, $matches));

            return array_sum(array_map(static fn (string $number): int => (int) str_replace(',', '', $number), $matches[1]));
        };

        self::assertStringContainsString(sprintf(
            '%s acquisitions in Redis while %d processes were killed, %d stopped and %d cut off, and the server restarted %d times',
            number_format($sum('- acquisitions: ([\d,]+)')),
            $sum('SIGKILL of a worker +(\d+)'),
            $sum('SIGSTOP of a worker +(\d+)'),
            $sum('CLIENT KILL TYPE \w+ +(\d+)'),
            $sum('restart.*? (\d+)$'),
        ), Examples::text(self::page()));
    }

    public function testThereAreSoManyFuzzers(): void
    {
        self::assertStringContainsString(
            \count(glob(self::ROOT . '/tests/fuzz/fuzz_*.c') ?: []) . ' fuzzers',
            Examples::text(self::page()),
        );
    }
}
