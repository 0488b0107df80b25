<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Tests\MySqlServer;
use Latch\Tests\RedisServer;
use Latch\Tests\Support\DocumentTestCase;

/**
 * The examples of docs/keep-alive.md run, and do what the page says. Each is a part of a program in
 * docs/keep-alive/, on a server of its own and with a shorter TTL than the page's.
 */
final class KeepAliveTest extends DocumentTestCase
{
    private const PROGRAMS = __DIR__ . '/../../docs/keep-alive';
    private const HOST = 'redis://redis.example.com';

    private RedisServer $server;
    private ?MySqlServer $database = null;

    protected static function page(): string
    {
        return 'docs/keep-alive.md';
    }

    /** A test has no hour, and no host. */
    protected function substitutes(): array
    {
        return [self::HOST => $this->server->dsn(), 'ttl: 10' => 'ttl: 2', '--ttl=10' => '--ttl=2', '3600' => '3'];
    }

    protected static function users(): array
    {
        return [__FILE__, ...glob(self::PROGRAMS . '/*') ?: []];
    }

    protected function setUp(): void
    {
        $this->server = new RedisServer();
        parent::setUp();
    }

    protected function environment(): array
    {
        return [
            'LATCH_EXAMPLES' => $this->directory(),
            'LATCH_DSN' => $this->server->dsn(),
            'LATCH_PDO' => (string) $this->database?->pdoDsn(),
        ];
    }

    public function testALockIsKeptWhileTheProgramIsBlocked(): void
    {
        self::assertSame("exported under the lock\nfree\n", $this->program('kept'));
    }

    public function testALostLockIsNotHeld(): void
    {
        self::assertSame("shipped 1\nshipped 2\nRuntimeException\nthe next holder's\n", $this->program('asked'));
    }

    public function testACallbackIsToldOfTheLoss(): void
    {
        self::assertSame(
            "stopped: the lock is lost: it has another holder, or none any more\n",
            $this->program('told'),
        );
    }

    public function testALossIsThrownIntoTheProgram(): void
    {
        self::assertSame("LockExpiredException\n0 prices\n", $this->program('thrown', 'latch.throw_on_lost=1'));
    }

    public function testALockIsNotKeptForEver(): void
    {
        self::assertSame("kept beyond its TTL\nlost\n", $this->program('limited'));
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
        self::assertSame("kept beyond its TTL\nLockExpiredException\n", $this->program('unchanged', ...$settings));
    }

    public function testAKeyIsHandedOver(): void
    {
        $sender = $this->startProgram('sender');
        self::assertSame("shipped 42\nfree\n", $this->program('receiver'));
        self::assertSame("sent\nnot lost\n", $this->finish($sender));
    }

    public function testAnOlderHolderIsRefused(): void
    {
        self::assertSame("written\nRuntimeException\n", $this->program('fenced'));
    }

    public function testWritingTheSameTwiceIsNoLossInMariaDb(): void
    {
        $this->database = new MySqlServer();

        self::assertSame("written\nwritten\nRuntimeException\n", $this->program('fenced-mysql'));
    }

    public function testACommandRunsUnderAKeptLock(): void
    {
        file_put_contents("{$this->directory()}/report.php", <<<'PHP'
            <?php
            sleep(3);
            echo "reported\n";
            PHP);
        self::assertSame("reported\n", $this->shellSaid($this->text('on-the-command-line-1.sh')));
    }

    private function program(string $name, string ...$settings): string
    {
        return $this->finish($this->startProgram($name, ...$settings));
    }

    /** @return array{resource, array<int, resource>} */
    private function startProgram(string $name, string ...$settings): array
    {
        return $this->startPhp('require ' . var_export(self::PROGRAMS . "/$name.php", true) . ';', ...$settings);
    }
}
