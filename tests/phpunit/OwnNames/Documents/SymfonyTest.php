<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Tests\RedisServer;
use Latch\Tests\Support\DocumentTestCase;
use Latch\Tests\Support\Examples;
use Latch\Tests\Support\Peer;

final class SymfonyTest extends DocumentTestCase
{
    protected static function page(): string
    {
        return 'docs/symfony.md';
    }

    public function testPhpSaysThatDropInModeIsOn(): void
    {
        $this->install('php', [...Peer::php(Peer::extension()), '-d', 'latch.symfony=1']);

        self::assertMatchesRegularExpression(
            '/^Classes => Symfony\\\\Component\\\\Lock, with aliases in Latch$/m',
            $this->shellSaid($this->text('check-that-it-is-on-1.sh')),
        );
        self::assertStringContainsString(
            'Classes => Symfony\Component\Lock, with aliases in Latch',
            Examples::text(static::page()),
        );
    }

    public function testTheClassesAreNative(): void
    {
        $program = 'echo json_encode(' . strtr(trim($this->text('check-that-it-is-on-2.php')), ['<?php' => '', ';' => '); ']);
        self::assertStringContainsString('// true', $program);

        self::assertSame('true', $this->said("$program\n", 'latch.symfony=1'));
    }

    public function testTheTwoLinesSwitchItOn(): void
    {
        $settings = $this->settings('switch-it-on-1.ini');
        self::assertSame(['extension', 'latch.symfony'], array_keys($settings));
        $this->install('php', [...Peer::php([...Peer::extension(), "-dlatch.symfony={$settings['latch.symfony']}"])]);

        self::assertStringContainsString('Classes => Symfony', $this->shellSaid('php --ri latch'));
    }

    public function testSemaphoresHaveASettingOfTheirOwn(): void
    {
        $settings = $this->settings('semaphores-1.ini');
        self::assertSame(['latch.symfony_semaphore'], array_keys($settings));
        $program = 'echo (new Latch\Semaphore\Key("r", 1))::class, " ", (new Latch\Key("r"))::class, "\n";';

        self::assertSame(
            "Symfony\Component\Semaphore\Key Latch\Key\n",
            $this->said("$program\n", "latch.symfony_semaphore={$settings['latch.symfony_semaphore']}"),
        );
        self::assertSame("Latch\Semaphore\Key Symfony\Component\Lock\Key\n", $this->said("$program\n", 'latch.symfony=1'));
    }

    public function testALockOfAnApplicationIsKeptAlive(): void
    {
        $server = new RedisServer();
        $settings = $this->settings('locks-that-are-kept-alive-1.ini');
        $settings['latch.max_hold'] = '4';
        $settings = array_map(static fn (string $name, string $value): string => "$name=$value", array_keys($settings), $settings);

        self::assertSame("kept\nlost\n", $this->said(str_replace('DSN', $server->dsn(), <<<'PHP'
            use Symfony\Component\Lock\{LockFactory, Store\StoreFactory};
            $lock = (new LockFactory(StoreFactory::createStore('DSN')))->createLock('r', 2);
            $lock->acquire();
            sleep(3);
            echo $lock->isAcquired() ? "kept\n" : "expired\n";
            sleep(4);
            echo $lock->isAcquired() ? "kept\n" : "lost\n";
            PHP), 'latch.symfony=1', ...$settings));
    }

    /** @return array<string, string> */
    private function settings(string $name): array
    {
        return array_map(strval(...), (array) parse_ini_string($this->text($name), false, \INI_SCANNER_RAW));
    }
}
