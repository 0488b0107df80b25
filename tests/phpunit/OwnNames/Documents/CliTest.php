<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Tests\RedisServer;
use Latch\Tests\Support\DocumentTestCase;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Wait;

final class CliTest extends DocumentTestCase
{
    /** Says that it runs, and ends with its input. */
    private const JOB = "<?php\necho \"running\\n\";\nfgets(STDIN);\n";
    /** A lock on import, held by a script, in the store of the environment. */
    private const HOLDER = <<<'PHP'
        <?php
        $store = Latch\Store\StoreFactory::createStore(getenv('LATCH_STORE'));
        $lock = (new Latch\LockFactory($store))->createLock('import', ttl: 30);
        $lock->acquire() || exit(1);
        echo "running\n";
        sleep(60);
        PHP;

    private ?RedisServer $server = null;
    private string $store = 'flock';
    /** @var list<resource> */
    private array $holders = [];

    protected static function page(): string
    {
        return 'docs/cli.md';
    }

    protected function substitutes(): array
    {
        $redis = $this->server?->dsn() ?? 'redis://redis.example.com';

        return [
            'redis://redis.example.com' => $redis,
            '10.0.0.5:6379' => substr($redis, \strlen('redis://')),
            '/srv/shop/' => "{$this->directory()}/",
            '/tmp/' => "{$this->directory()}/",
            'web1' => (string) gethostname(),
            'anna' => trim((string) shell_exec('id -un')),
        ];
    }

    protected function environment(): array
    {
        return ['LATCH_STORE' => $this->store, 'TMPDIR' => $this->directory()];
    }

    protected function setUp(): void
    {
        $this->prepare();
        foreach (['report.php', 'import.php', 'prices.php'] as $script) {
            file_put_contents("{$this->directory()}/$script", "<?php echo basename(__FILE__), \"\\n\";");
        }
        foreach (['deploy.sh', 'export.sh'] as $script) {
            file_put_contents("{$this->directory()}/$script", "#!/bin/sh\necho $script\n");
            chmod("{$this->directory()}/$script", 0755);
        }
    }

    protected function tearDown(): void
    {
        foreach ($this->holders as $holder) {
            proc_terminate($holder, \SIGKILL);
            proc_close($holder);
        }
        parent::tearDown();
    }

    /** Has a Redis server in the place of the page's, and keeps the locks there. */
    private function inRedis(): RedisServer
    {
        $this->server = new RedisServer();
        $this->store = $this->server->dsn();
        $this->setUp();

        return $this->server;
    }

    /** A program that lives until the end of the test, once it has said "running". */
    private function hold(string $script): void
    {
        // Not by "timeout": its number is not that of the program.
        $process = proc_open(
            ['sh', '-c', "exec $script"],
            [['pipe', 'r'], ['pipe', 'w'], ['redirect', 1]],
            $pipes,
            $this->directory(),
            $this->environment() + ['PATH' => "{$this->directory()}/bin:" . getenv('PATH')] + getenv(),
        );
        self::assertIsResource($process);
        $this->holders[] = $process;
        $this->await("running\n", $pipes[1]);
    }

    /** The page's lines are those that the program says, but for numbers, times and what "…" stands for. */
    private static function assertSaid(string $told, string $said): void
    {
        $pattern = strtr(preg_quote(self::shape($told), '/'), ['…' => '.*']);

        self::assertMatchesRegularExpression("/^$pattern$/s", self::shape($said));
    }

    public function testTheSynopsisIsThatOfTheHelp(): void
    {
        $told = $this->lines('latch-on-the-command-line-1.text');
        preg_match_all('/^(?:Usage:)? +(latch .+)$/m', strstr($this->shellSaid('latch help'), "\n\n", true) ?: '', $said);

        self::assertSame($told, $said[1]);
    }

    public function testCommandsRun(): void
    {
        $this->inRedis();
        $this->store = 'flock';
        $lines = $this->lines('latch-run-1.sh');

        $said = array_map(fn (string $line): string => trim($this->shellSaid($line)), $lines);
        self::assertSame(['report.php', 'deploy.sh', 'export.sh', 'report.php'], $said);

        file_put_contents("{$this->directory()}/report.php", self::JOB);
        $this->hold($lines[0]);
        $this->shellSaid($lines[0], 75);
    }

    public function testARefusalNamesTheHolder(): void
    {
        $this->inRedis();
        file_put_contents("{$this->directory()}/import.php", self::JOB);
        foreach (['flock', $this->store] as $at => $store) {
            $this->store = $store;
            $this->hold('latch run import -- php import.php');
            $told = explode("\n", $this->text('latch-run-2.text'))[$at] . "\n";
            self::assertSaid(self::plain($told), self::plain($this->shellSaid('latch run import -- true', 75)));
        }
    }

    public function testALostLockIsTold(): void
    {
        $server = $this->inRedis();
        $run = $this->startShell("latch run --ttl=3 report -- sh -c 'echo running; exec sleep 50'");
        $this->await("running\n", $run[1][1]);
        $server->stop();

        self::assertSaid($this->text('latch-run-3.text'), $this->finish($run, 76));
    }

    public function testCronsCommandsRun(): void
    {
        $this->inRedis();
        $this->store = 'flock';
        $said = [];
        $environment = '';
        foreach ($this->lines('cron-1.crontab') as $line) {
            if (preg_match('/^[A-Z_]+=/', $line)) {
                $environment .= "export $line; ";
                continue;
            }
            self::assertSame(1, preg_match('~^(?:[\d*/,-]+ +){5}www-data +(.+)$~', $line, $match), $line);
            $said[] = trim($this->shellSaid($environment . $match[1]));
        }

        self::assertSame(['import.php', 'prices.php', 'report.php'], $said);
        self::assertNotSame('', $environment);
    }

    public function testHoldersOfAFile(): void
    {
        file_put_contents("{$this->directory()}/import.php", self::JOB);
        $this->hold('latch run import -- php import.php');
        foreach ($this->transcript('latch-status-latch-list-1.console') as [$command, $told]) {
            $said = $this->shellSaid($command, str_starts_with($told, 'held') ? 75 : 0);
            self::assertSaid(self::plain($told), self::plain($said));
        }
    }

    /** Without the names of the directory and of this PHP, which have numbers. */
    private static function plain(string $text): string
    {
        return (string) preg_replace(['~/\S+/sf\.~', '/\(php[\d.]*\)/'], ['/sf.', '(php)'], $text);
    }

    public function testHoldersInRedis(): void
    {
        $server = $this->inRedis();
        file_put_contents("{$this->directory()}/import.php", self::HOLDER);
        $this->hold("php {$this->directory()}/import.php");
        foreach ([1, 2] as $waiters) {
            $this->wait($server, $waiters);
        }
        foreach ($this->transcript('latch-status-latch-list-2.console') as [$command, $told]) {
            self::assertSaid($told, $this->shellSaid($command, str_starts_with($told, 'held') ? 75 : 0));
        }

        [[$command, $told]] = $this->transcript('latch-release-1.console');
        $said = $this->shellSaid("printf 'y\\n' | script -qec " . escapeshellarg($command) . ' /dev/null');
        // The terminal shows the answer as it was typed, which may be before the question.
        $typed = static fn (string $text): string => (string) preg_replace(['/\r/', '/^y\n/', '/\] y\n/'], ['', '', "] \n"], $text);
        self::assertSaid($typed($told), str_replace('[y/N] latch', "[y/N] \nlatch", $typed($said)));
    }

    private function wait(RedisServer $server, int $count): void
    {
        $process = proc_open(
            ["{$this->directory()}/bin/latch", 'run', '--wait', 'import', '--', 'sleep', '50'],
            [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', '/dev/null', 'w']],
            $pipes,
            $this->directory(),
            $this->environment() + getenv(),
        );
        self::assertIsResource($process);
        $this->holders[] = $process;
        Wait::until(static fn (): bool => $server->command('ZCARD', 'latch:queue:import') === $count, "$count wait");
    }

    public function testTheDoctorsReport(): void
    {
        $server = $this->inRedis();
        $server->setUser('shop', 'on', '>secret', '~*', '&*', '+@all', '-publish');
        $vendor = "{$this->directory()}/vendor";
        symlink((string) getenv('LATCH_VENDOR'), $vendor);
        // The settings are those of the machine, as they are where a user calls the doctor.
        $this->install('latch', [
            \PHP_BINARY, ...Peer::extension(), '-d', 'latch.symfony=1', __DIR__ . '/../../../../bin/latch',
        ]);
        [[$command, $told]] = $this->transcript('latch-doctor-1.console');
        $command = str_replace('shop:…@', 'shop:secret@', strtr($command, [
            $server->dsn() => 'redis://shop:secret@' . substr($server->dsn(), \strlen('redis://')),
            'redis://shop:…@redis.example.com' => $server->dsn('', 'shop:secret@'),
        ]));
        $said = $this->shellSaid("unset LATCH_STORE; $command");
        foreach (array_diff(explode("\n", $told), ['', '…']) as $line) {
            $pattern = strtr(preg_quote(self::shape($line), '~'), [
                '…' => '.*',
                '/usr/bin/latch' => '\S+/bin/latch',
                preg_quote('redis://redis.example.com', '~') => preg_quote(self::shape($server->dsn()), '~'),
                preg_quote("{$this->directory()}/vendor", '~') => '\S+',
            ]);
            self::assertMatchesRegularExpression("~^$pattern$~m", self::shape($said));
        }
    }
}
