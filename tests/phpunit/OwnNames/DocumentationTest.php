<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames;

use Latch\Tests\RedisServer;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\TestCase;

/**
 * The examples of docs/keep-alive.md run, and do what the page says. Each is a part of a program in
 * docs/keep-alive/, on a server of its own and with a shorter TTL than the page's.
 */
final class DocumentationTest extends TestCase
{
    private const PAGE = __DIR__ . '/../../../docs/keep-alive.md';
    private const PROGRAMS = __DIR__ . '/../docs/keep-alive';
    /** What the page says, and what is said here: a test has no hour, and no host. */
    private const SUBSTITUTES = ['ttl: 10' => 'ttl: 2', '--ttl=10' => '--ttl=2', '3600' => '3'];
    private const HOST = 'redis://redis.example.com';

    private const PATIENCE_S = '40';

    private RedisServer $server;

    protected function setUp(): void
    {
        $this->server = new RedisServer();
        foreach (self::examples() as $name => [$language, $text]) {
            $text = strtr($text, [self::HOST => $this->server->dsn()] + self::SUBSTITUTES);
            file_put_contents("{$this->directory()}/$name", $language === 'php' ? "<?php\n$text" : $text);
        }
    }

    public function testEveryExampleIsPartOfAProgram(): void
    {
        $programs = implode('', array_map(file_get_contents(...), glob(self::PROGRAMS . '/*') ?: []));
        preg_match_all("/example\\('(.+?)'\\)/", $programs . file_get_contents(__FILE__), $used);

        self::assertGreaterThan(5, \count(self::examples()));
        self::assertEqualsCanonicalizing(array_keys(self::examples()), array_unique($used[1]));
    }

    public function testALockIsKeptWhileTheProgramIsBlocked(): void
    {
        self::assertSame("exported under the lock\nfree\n", $this->said('kept'));
    }

    public function testALostLockIsNotHeld(): void
    {
        self::assertSame("shipped 1\nshipped 2\nRuntimeException\nthe next holder's\n", $this->said('asked'));
    }

    public function testACallbackIsToldOfTheLoss(): void
    {
        self::assertSame(
            "stopped: the lock is lost: somebody else holds it, or nobody does any more\n",
            $this->said('told'),
        );
    }

    public function testALossIsThrownIntoTheProgram(): void
    {
        self::assertSame("LockExpiredException\n0 prices\n", $this->said('thrown', 'latch.throw_on_lost=1'));
    }

    public function testALockIsNotKeptForEver(): void
    {
        self::assertSame("kept beyond its TTL\nlost\n", $this->said('limited'));
    }

    public function testSettingsKeepLocksOfProgramsThatKnowNothingOfThem(): void
    {
        $settings = parse_ini_file($this->example('without-changing-the-program-1.ini'), false, \INI_SCANNER_RAW);
        self::assertIsArray($settings);
        $settings = array_map(
            static fn (string $name, string $value): string => "$name=$value",
            array_keys($settings),
            $settings,
        );
        self::assertSame("kept beyond its TTL\nLockExpiredException\n", $this->said('unchanged', ...$settings));
    }

    public function testAKeyIsHandedOver(): void
    {
        $sender = $this->start('sender');
        self::assertSame("shipped 42\nfree\n", $this->said('receiver'));
        self::assertSame("sent\nnot lost\n", $this->finish($sender));
    }

    public function testAnOlderHolderIsRefused(): void
    {
        self::assertSame("written\nRuntimeException\n", $this->said('fenced'));
    }

    public function testACommandRunsUnderAKeptLock(): void
    {
        file_put_contents("{$this->directory()}/report.php", <<<'PHP'
            <?php
            sleep(3);
            echo "reported\n";
            PHP);
        $latch = implode(' ', array_map(escapeshellarg(...), [...Peer::php(Peer::extension()), \dirname(__DIR__, 3) . '/bin/latch']));
        $command = (string) file_get_contents($this->example('on-the-command-line-1.sh'));
        $command = str_replace(['latch run', ' php '], ["$latch run", ' ' . \PHP_BINARY . ' '], $command);

        self::assertSame("reported\n", $this->finish($this->startCommand(['sh', '-ec', $command])));
    }

    private function example(string $name): string
    {
        return "{$this->directory()}/$name";
    }

    private function said(string $program, string ...$settings): string
    {
        return $this->finish($this->start($program, ...$settings));
    }

    /** @return array{resource, array<int, resource>} */
    private function start(string $program, string ...$settings): array
    {
        $settings = array_map(static fn (string $setting): string => "-d$setting", $settings);

        return $this->startCommand(
            [...Peer::php([...Peer::extension(), ...$settings]), self::PROGRAMS . "/$program.php"],
        );
    }

    /**
     * @param list<string> $command
     *
     * @return array{resource, array<int, resource>}
     */
    private function startCommand(array $command): array
    {
        $environment = ['LATCH_EXAMPLES' => $this->directory(), 'LATCH_DSN' => $this->server->dsn()] + getenv();
        $command = ['timeout', '--kill-after=5', self::PATIENCE_S, ...$command];
        $process = proc_open($command, [1 => ['pipe', 'w']], $pipes, $this->directory(), $environment);
        self::assertIsResource($process);

        return [$process, $pipes];
    }

    /** @param array{resource, array<int, resource>} $started */
    private function finish(array $started): string
    {
        [$process, $pipes] = $started;
        $output = (string) stream_get_contents($pipes[1]);
        self::assertSame(0, proc_close($process), "The program failed:\n$output");

        return $output;
    }

    /** @return array<string, array{string, string}> language and text of each, by heading and number */
    private static function examples(): array
    {
        preg_match_all('/^#+ ([^\n]+)$|^```(\w+)\n(.*?)^```$/ms', (string) file_get_contents(self::PAGE), $found, \PREG_SET_ORDER);
        $examples = [];
        $section = '';
        $number = 0;
        foreach ($found as $match) {
            if (!isset($match[2])) {
                [$section, $number] = [trim(strtolower((string) preg_replace('/\W+/', '-', $match[1])), '-'), 0];
            } else {
                $examples[sprintf('%s-%d.%s', $section, ++$number, $match[2])] = [$match[2], $match[3]];
            }
        }

        return $examples;
    }
}
