<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Lock;
use Latch\LockFactory;
use Latch\Semaphore\SemaphoreFactory;
use Latch\Symfony\Command\HolderText;
use Latch\Symfony\Tests\Message\Locked;
use Latch\Symfony\Tests\Message\Mistaken;
use Latch\Symfony\Tests\Message\Patient;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Message\Two;
use Latch\Symfony\Tests\Support\Handler;
use Latch\Symfony\Tests\Support\Log;
use Latch\Symfony\Tests\Support\TestKernel;
use Latch\Tests\RedisServer;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use Symfony\Bundle\FrameworkBundle\Console\Application;
use Symfony\Component\Console\Exception\InvalidArgumentException;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Output\BufferedOutput;
use Symfony\Component\Console\Tester\CommandTester;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\Filesystem\Filesystem;

final class CommandTest extends TestCase
{
    private static ?RedisServer $server = null;

    private static string $directory;

    private TestKernel $kernel;

    public static function setUpBeforeClass(): void
    {
        self::$directory = sys_get_temp_dir() . '/latch-commands-' . bin2hex(random_bytes(6));
        mkdir(self::$directory);
    }

    public static function tearDownAfterClass(): void
    {
        (new Filesystem())->remove(self::$directory);
        self::$server = null;
    }

    public function testShowsRulesStoresAndMiddlewares(): void
    {
        $shown = $this->shown('debug:latch', [], $this->routed(Locked::class, Patient::class, Two::class, Plain::class));

        self::assertMatchesRegularExpression('/default +files +machine +yes +their process or session +locks while messages/', $shown);
        self::assertMatchesRegularExpression('/local +memory +process/', $shown);
        self::assertMatchesRegularExpression('/dispatch_after_current_bus.*\* latch\.messenger\.middleware.*latch\.messenger\.held_middleware\s+\* send_message/s', $shown);
        self::assertMatchesRegularExpression('/Patient +Lock\(\'item-\{id\}\', wait: 0\.2\) +a /', $shown);
        self::assertMatchesRegularExpression('/Two +Lock\(\'b-\{id\}\'\) +a .*\n +Lock\(\'a-\{id\}\'\)/', $shown);
        self::assertStringNotContainsString('Plain', $shown, 'It has no rule.');
    }

    public function testShowsOneMessage(): void
    {
        $options = $this->routed(Locked::class, Patient::class, Plain::class);
        $shown = $this->shown('debug:latch', ['class' => 'Locked'], $options);
        self::assertStringContainsString(Locked::class, $shown);
        self::assertStringNotContainsString('Patient', $shown);
        self::assertStringNotContainsString('Stores', $shown);

        self::assertStringContainsString('no rule', $this->shown('debug:latch', ['class' => 'message/plain'], $options));
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('No message "lain" has a handler or a transport.');
        $this->shown('debug:latch', ['class' => 'lain'], $options);
    }

    public function testNamesPlaceholdersThatAMessageCannotFill(): void
    {
        $shown = $this->shown('debug:latch', [], $this->routed(Mistaken::class), 1);

        self::assertStringContainsString('{updated} of IfNewer(', $shown);
        self::assertStringNotContainsString('{id} of', $shown);
    }

    public function testWithoutMessengerTheStoresAreShown(): void
    {
        $this->boot([], ['messenger' => false]);

        self::assertMatchesRegularExpression('/default +files/', $this->command('debug:latch'));
    }

    public function testListsTheLocksOfProcesses(): void
    {
        $this->boot();
        self::assertStringContainsString('No lock is held.', $this->command('latch:locks', ['--store' => 'default']));
        $lock = $this->locks()->createLock('order_42');
        $lock->acquire();
        $shown = $this->command('latch:locks');
        self::assertMatchesRegularExpression('/order_42\S* +\| exclusive +\| ' . getmypid() . ' \(php\S*\) +\| - +\| - /', $shown);
        self::assertSame($shown, $this->command('latch:locks', ['--all' => true]), 'Files have no others to list.');
        self::assertStringContainsString('The locks of the store "local" cannot be listed; ask for one by its key.', $shown);

        $one = $this->command('latch:locks', ['key' => 'order_42', '--store' => 'default']);
        self::assertMatchesRegularExpression('/\| order_42 +\| exclusive/', $one);
        self::assertSame("free\n", $this->command('latch:locks', ['key' => 'order_43']));

        $json = json_decode($this->command('latch:locks', ['--format' => 'json']), true, 16, \JSON_THROW_ON_ERROR);
        self::assertSame(['default', 'exclusive', getmypid()], [$json[0]['store'], $json[0]['mode'], $json[0]['holders'][0]['pid']]);
    }

    public function testWatchesLocksUntilItIsStopped(): void
    {
        $this->boot();
        $lock = $this->locks()->createLock('order_42');
        $output = new class ($lock) extends BufferedOutput {
            public function __construct(private readonly Lock $lock)
            {
                parent::__construct();
            }

            protected function doWrite(string $message, bool $newline): void
            {
                if (str_contains($message, 'No lock is held')) {
                    $this->lock->acquire();
                } elseif (str_contains($message, 'order_42')) {
                    throw new \DomainException('seen');
                }
            }
        };
        $command = (new Application($this->kernel))->find('latch:locks');
        $this->expectExceptionObject(new \DomainException('seen'));
        try {
            $command->run(new ArrayInput(['--watch' => '0.1', '--store' => 'default']), $output);
        } finally {
            $lock->release();
        }
    }

    public function testALockOfAProcessIsNotTakenAway(): void
    {
        $this->boot();
        $lock = $this->locks()->createLock('order_42');
        $lock->acquire();
        $shown = $this->command('latch:release', ['key' => 'order_42', '--yes' => true], 1);

        self::assertStringContainsString('it ends with the process that has it, as by: kill ' . getmypid(), $shown);
        self::assertTrue($lock->isAcquired());
        $lock->release();
        self::assertSame("free\n", $this->command('latch:release', ['key' => 'order_42']));
    }

    /** @param array<string, string> $arguments */
    #[TestWith(['latch:locks', ['--store' => 'loca'], 'There is no store "loca" under latch.stores; there is "default", "local".'])]
    #[TestWith(['latch:locks', ['--format' => 'xml'], '--format is "txt" or "json".'])]
    #[TestWith(['latch:locks', ['--watch' => '0'], '--watch takes seconds from 0.1 to 86400'])]
    #[TestWith(['latch:locks', ['--watch' => 'x'], '--watch takes seconds from 0.1 to 86400'])]
    public function testMistakesAreNamed(string $command, array $arguments, string $message): void
    {
        $this->boot();
        $this->expectExceptionMessage($message);
        $this->command($command, $arguments);
    }

    public function testShowsWhoHoldsWhatInRedisAndHowManyWait(): void
    {
        $this->boot(['default' => $this->redis()->dsn()]);
        $lock = $this->locks()->createLock('order_42', 60.0);
        $lock->acquire();
        $permits = $this->service('latch.semaphore_factory.default', SemaphoreFactory::class)->createSemaphore('mails', 5, 2, 60.0);
        $permits->acquire();
        $shown = $this->command('latch:locks');

        $holder = getmypid() . ' on ' . preg_quote((string) gethostname(), '/');
        self::assertMatchesRegularExpression("/order_42 +\\| exclusive +\\| $holder \\(.*phpunit\\) +\\| \\d+ s +\\| \\d+\\.\\d s +\\| 0 /", $shown);
        self::assertMatchesRegularExpression("/mails +\\| semaphore 2\\/5, 2 in use +\\| $holder/", $shown);
        self::assertStringContainsString('semaphore', $this->command('latch:locks', ['key' => 'mails']));
    }

    public function testTakesALockAwayInRedisAfterAsking(): void
    {
        $this->boot(['default' => $this->redis()->dsn()]);
        $lock = $this->locks()->createLock('order_42', 60.0);
        $lock->acquire();
        self::assertStringContainsString('not released', $this->command('latch:release', ['key' => 'order_42'], 1, ['no']));
        self::assertStringContainsString('--yes', $this->command('latch:release', ['key' => 'order_42'], 2));
        self::assertTrue($lock->isAcquired());
        $shown = $this->command('latch:release', ['key' => 'order_42'], 0, ['yes']);

        self::assertMatchesRegularExpression('/"order_42" is held, exclusive, by:.*' . getmypid() . ' on .*released/s', $shown);
        self::assertFalse($lock->isAcquired());
        $lines = $this->service('logger', Log::class)->lines;
        self::assertStringStartsWith('warning: The lock "order_42" was taken away from ' . getmypid() . ' on ', end($lines) ?: '');
    }

    public function testTextOfOthersCannotControlTheTerminal(): void
    {
        $name = HolderText::name(['pid' => 1, 'host' => "w\x1b[2Jeb", 'script' => "a\nb\u{85}<error>c\xff"]);

        self::assertSame('1 on w\033[2Jeb (a\nb\302\205<error>c?)', $name);
    }

    /**
     * @param array<string, mixed> $framework
     * @param array<string, mixed> $arguments
     */
    private function shown(string $command, array $arguments, array $framework, int $code = 0): string
    {
        $this->boot([], [], $framework);

        return $this->command($command, $arguments, $code);
    }

    /**
     * @param array<string, string> $stores
     * @param array<string, mixed>  $latch
     * @param array<string, mixed>  $framework
     */
    private function boot(array $stores = [], array $latch = [], array $framework = []): void
    {
        $this->kernel = new TestKernel(
            ['stores' => $stores + ['default' => 'flock://' . self::$directory, 'local' => 'in-memory'], ...$latch],
            $framework + ['messenger' => []],
            static function (ContainerBuilder $container): void {
                $container->register(Handler::class, Handler::class)->addTag('messenger.message_handler', ['handles' => '*']);
            },
            shared: true,
        );
        $this->kernel->boot();
    }

    /**
     * @return array<string, mixed>
     */
    private function routed(string ...$classes): array
    {
        return ['messenger' => ['transports' => ['a' => 'in-memory://'], 'routing' => array_fill_keys($classes, 'a')]];
    }

    /**
     * @param array<string, mixed> $arguments
     * @param list<string>         $answers
     */
    private function command(string $name, array $arguments = [], int $code = 0, array $answers = []): string
    {
        $application = new Application($this->kernel);
        $tester = new CommandTester($application->find($name));
        $tester->setInputs($answers);
        $width = getenv('COLUMNS');
        putenv('COLUMNS=250');
        try {
            $actual = $tester->execute($arguments, ['interactive' => $answers !== []]);
        } finally {
            putenv($width === false ? 'COLUMNS' : "COLUMNS=$width");
        }
        self::assertSame($code, $actual, $tester->getDisplay());

        return $tester->getDisplay(true);
    }

    private function locks(): LockFactory
    {
        return $this->service('latch.lock_factory.default', LockFactory::class);
    }

    /**
     * @template S of object
     *
     * @param class-string<S> $class
     *
     * @return S
     */
    private function service(string $id, string $class): object
    {
        $service = $this->kernel->getContainer()->get($id);
        self::assertInstanceOf($class, $service);

        return $service;
    }

    private function redis(): RedisServer
    {
        return self::$server ??= new RedisServer();
    }
}
