<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Symfony\LatchBundle;
use Latch\Symfony\Messenger\EventListener\MetricsListener;
use Psr\Log\NullLogger;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\EventDispatcher\EventDispatcherInterface;
use Symfony\Component\HttpKernel\Kernel;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Transport\InMemory\InMemoryTransport;

/**
 * An application as in production, with Messenger, with or without the bundle.
 *
 * Its transport "queue" is in memory; messages go there if they have a stamp that names it.
 */
final class MessengerKernel extends Kernel implements CompilerPassInterface
{
    private const PUBLIC = ['messenger.default_bus', 'messenger.transport.queue', 'event_dispatcher', MessageHandler::class];

    /** @param string|null $store DSN of the bundle's store; null: without the bundle */
    public function __construct(private readonly string $folder, string $name, private readonly ?string $store)
    {
        parent::__construct($name, false);
        $this->boot();
    }

    public function bus(): MessageBusInterface
    {
        return $this->service('messenger.default_bus');
    }

    public function queue(): InMemoryTransport
    {
        return $this->service('messenger.transport.queue');
    }

    public function dispatcher(): EventDispatcherInterface
    {
        return $this->service('event_dispatcher');
    }

    public function handler(): MessageHandler
    {
        return $this->service(MessageHandler::class);
    }

    public function registerBundles(): iterable
    {
        yield new FrameworkBundle();
        if ($this->store !== null) {
            yield new LatchBundle();
        }
    }

    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load(function (ContainerBuilder $container): void {
            $container->loadFromExtension('framework', [
                'secret' => 'a secret',
                'http_method_override' => false,
                'handle_all_throwables' => true,
                'php_errors' => ['log' => true],
                'messenger' => ['transports' => ['queue' => 'in-memory://']],
            ]);
            if ($this->store !== null) {
                $container->loadFromExtension('latch', ['stores' => ['default' => $this->store]]);
            }
            $container->register('logger', NullLogger::class);
            $container->register(MessageHandler::class)->addTag('messenger.message_handler', ['handles' => '*']);
        });
    }

    public function process(ContainerBuilder $container): void
    {
        // The tests' packages have OpenTelemetry's API, which nobody reads here.
        $container->removeDefinition(MetricsListener::class);
        foreach (self::PUBLIC as $id) {
            ($container->hasAlias($id) ? $container->getAlias($id) : $container->getDefinition($id))->setPublic(true);
        }
    }

    public function getProjectDir(): string
    {
        return "$this->folder/$this->environment";
    }

    public function getCacheDir(): string
    {
        return "$this->folder/$this->environment/cache";
    }

    public function getLogDir(): string
    {
        return "$this->folder/$this->environment/log";
    }

    private function service(string $id): mixed
    {
        return $this->getContainer()->get($id);
    }
}
