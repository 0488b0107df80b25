<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\LockFactory;
use Latch\Semaphore\SemaphoreFactory;
use Latch\Symfony\Messenger\EventListener\RequeueListener;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Support\Autowired;
use Latch\Symfony\Tests\Support\TestKernel;
use Latch\SyncFactory;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Config\Definition\Exception\InvalidConfigurationException;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Exception\ServiceNotFoundException;
use Symfony\Component\DependencyInjection\Reference;

final class ConfigurationTest extends TestCase
{
    public function testNamesOneStoreInOneLine(): void
    {
        $service = $this->autowired('in-memory', Autowired\Defaults::class);

        self::assertTrue($service->locks->createLock('a')->acquire());
        self::assertTrue($service->sync->createVersion('a')->advance(1));
        self::assertTrue($service->semaphores->createSemaphore('a', 1)->acquire());
    }

    public function testTheDefaultStoreIsInFiles(): void
    {
        $service = $this->autowired(null, Autowired\Defaults::class);
        $lock = $service->locks->createLock('latch-bundle-' . getmypid());

        self::assertTrue($lock->acquire());
        self::assertNull($lock->getRemainingLifetime());
    }

    public function testAutowiresByNameAndByTarget(): void
    {
        $stores = ['default' => 'in-memory', 'orders' => 'in-memory', 'audit.log' => 'in-memory'];
        $service = $this->autowired(['stores' => $stores], Autowired\Named::class);

        self::assertSame($service->targetLocks, $service->ordersLockFactory);
        self::assertSame($service->targetSync, $service->ordersSyncFactory);
        self::assertSame($service->targetSemaphores, $service->ordersSemaphoreFactory);
        self::assertNotSame($service->default, $service->ordersLockFactory);
        self::assertNotSame($service->auditLogLockFactory, $service->ordersLockFactory);
    }

    public function testFactoriesOfOneStoreShareIt(): void
    {
        $container = $this->boot(['stores' => ['default' => 'in-memory']])->getContainer();

        self::assertSame($container->get('latch.store.default'), $container->get('latch.store.default'));
        self::assertInstanceOf(LockFactory::class, $container->get('latch.lock_factory.default'));
        self::assertInstanceOf(SyncFactory::class, $container->get('latch.sync_factory.default'));
        self::assertInstanceOf(SemaphoreFactory::class, $container->get('latch.semaphore_factory.default'));
    }

    public function testADsnComesFromTheEnvironment(): void
    {
        $_ENV['LATCH_TEST_DSN'] = 'in-memory';
        try {
            $service = $this->autowired(['stores' => ['default' => '%env(LATCH_TEST_DSN)%']], Autowired\Defaults::class);
            $lock = $service->locks->createLock('a');
            self::assertTrue($lock->acquire());
            self::assertFalse($service->locks->createLock('a')->acquire());
        } finally {
            unset($_ENV['LATCH_TEST_DSN']);
        }
    }

    public function testAStoreIsMadeOfAServiceThatIsAClient(): void
    {
        $kernel = $this->boot(
            ['stores' => ['default' => 'app.redis'], 'messenger' => ['enabled' => false]],
            services: static function (ContainerBuilder $container): void {
                $container->register('app.redis', \Redis::class);
            },
        );

        self::assertInstanceOf(LockFactory::class, $kernel->getContainer()->get('latch.lock_factory.default'));
    }

    public function testAllThatLogsDoesSoInOneChannel(): void
    {
        $channels = [];
        $collect = static function (ContainerBuilder $container) use (&$channels): void {
            foreach ($container->getDefinitions() as $id => $definition) {
                $uses = [...$definition->getArguments(), ...array_merge(...array_column($definition->getMethodCalls(), 1))];
                if (str_starts_with($definition->getClass() ?? '', 'Latch\\') && \in_array('logger', array_map(static fn (mixed $argument): string => $argument instanceof Reference ? (string) $argument : '', $uses), true)) {
                    $channels[$id] = $definition->getTag('monolog.logger');
                }
            }
        };
        $pass = new class ($collect) implements CompilerPassInterface {
            public function __construct(private readonly \Closure $collect)
            {
            }

            public function process(ContainerBuilder $container): void
            {
                ($this->collect)($container);
            }
        };
        $messenger = ['messenger' => ['transports' => ['a' => 'in-memory://']]];
        (new TestKernel([], $messenger, static fn (ContainerBuilder $container) => $container->addCompilerPass($pass)))->boot();

        self::assertArrayHasKey(RequeueListener::class, $channels);
        self::assertSame([[['channel' => 'latch']]], array_values(array_unique($channels, \SORT_REGULAR)));
    }

    public function testIsBesideFrameworkLock(): void
    {
        $kernel = $this->boot(['stores' => ['default' => 'in-memory']], ['lock' => 'flock']);
        $framework = $kernel->getContainer()->get('lock.default.factory');
        $latch = $kernel->getContainer()->get('latch.lock_factory.default');

        $name = 'latch-bundle-' . getmypid();
        $one = $framework->createLock($name);
        $other = $latch->createLock($name);
        self::assertTrue($one->acquire());
        self::assertTrue($other->acquire());
        self::assertSame(\ini_get('latch.symfony') === '1', $framework instanceof LockFactory);
    }

    /**
     * @return iterable<string, array{array<string, mixed>, string}>
     */
    public static function mistakes(): iterable
    {
        yield 'an unknown scheme' => [
            ['stores' => ['a' => 'foo://secret']],
            'latch.stores.a: there is no store for a DSN that begins with "foo:"; known are ',
        ];
        yield 'a name that cannot be an argument' => [['stores' => ['7' => 'flock']], 'A name of a store'];
        yield 'a store that does not exist' => [
            ['stores' => ['a' => 'flock', 'b' => 'flock']],
            'latch.messenger.store: there is no store "default" under latch.stores; there is "a", "b".',
        ];
        yield 'a store of what travels that does not exist' => [
            ['stores' => 'flock', 'messenger' => ['sync_store' => 'redis']],
            'latch.messenger.sync_store: there is no store "redis" under latch.stores; there is "default".',
        ];
        yield 'a TTL of nothing' => [['messenger' => ['ttl' => 0]], 'latch.messenger.ttl'];
        yield 'an unknown reaction' => [['messenger' => ['requeue' => ['on_store_error' => 'wait']]], 'on_store_error'];
        $rules = static fn (string $class, array $rules): array => ['messenger' => ['rules' => [$class => $rules]]];
        yield 'rules of no class' => [$rules('App\\Nothing', ['lock' => 'x']), 'latch.messenger.rules: There is no class "App\\Nothing".'];
        yield 'an unknown rule' => [
            $rules(Plain::class, ['look' => 'x']),
            'latch.messenger.rules: There is no rule "look", which ' . Plain::class . ' is to have; there is "lock", "limit"',
        ];
        yield 'an unknown argument' => [
            $rules(Plain::class, ['lock' => ['kee' => 'x']]),
            'latch.messenger.rules: The rule "lock" of ' . Plain::class . ' cannot be made: Unknown named parameter $kee',
        ];
        yield 'a wrong argument' => [
            $rules(Plain::class, ['once' => ['until' => 'over']]),
            'latch.messenger.rules: #[Once]: $until must be one of "done", "received", "attempt", "chain"; "over" is not.',
        ];
        yield 'an unknown option' => [['messenger' => ['timeout' => 1]], 'Unrecognized option "timeout" under "latch.messenger"'];
    }

    /**
     * @param array<string, mixed> $configuration
     */
    #[DataProvider('mistakes')]
    public function testRefuses(array $configuration, string $message): void
    {
        $this->expectException(InvalidConfigurationException::class);
        $this->expectExceptionMessage($message);
        $this->boot($configuration, ['messenger' => true]);
    }

    public function testNeverShowsTheRestOfADsn(): void
    {
        try {
            $this->boot(['stores' => ['a' => 'foo://secret']]);
            self::fail('There is such a store.');
        } catch (InvalidConfigurationException $e) {
            self::assertStringNotContainsString('secret', $e->getMessage());
        }
    }

    public function testNamesAServiceThatDoesNotExist(): void
    {
        $this->expectException(ServiceNotFoundException::class);
        $this->expectExceptionMessage('app.missing');
        $this->boot(['stores' => ['default' => 'app.missing']], debug: true);
    }

    /**
     * @param array<string, mixed>|string|null     $latch
     * @param array<string, mixed>                 $framework
     * @param (\Closure(ContainerBuilder): void)|null $services
     */
    private function boot(array|string|null $latch, array $framework = [], ?\Closure $services = null, bool $debug = false): TestKernel
    {
        $kernel = new TestKernel($latch, $framework, $services, $debug);
        $kernel->boot();

        return $kernel;
    }

    /**
     * @template S of object
     *
     * @param array<string, mixed>|string|null $latch
     * @param class-string<S>                  $class
     *
     * @return S
     */
    private function autowired(array|string|null $latch, string $class): object
    {
        $kernel = $this->boot($latch, services: static function (ContainerBuilder $container) use ($class): void {
            $container->autowire($class)->setPublic(true);
        });

        /** @var S */
        return $kernel->getContainer()->get($class);
    }
}
